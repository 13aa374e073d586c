import type { Figure, PartReport, Table } from '../../../bench/harness/report.ts';
import { once, quantile, summarise } from '../../../bench/harness/statistics.ts';
import type { Checked } from './plan-cases.ts';

/** From so many actions on, one of a thousand of them is not simply the slowest. */
const ENOUGH = 1_000;
const RARE = 0.999;
/** Cores that something else was at work on: beyond that a run does not count, unless there is no other. */
const MOST_OTHERS = 0.2;

/** Every figure of a run with what had been said of it. */
export function reportPlan(checked: readonly Checked[]): PartReport {
  const names = [...new Set(checked.map(({ name }) => name))];
  const figures = names.flatMap((name) => {
    const runs = countedOf(checked, name);
    const usual = (['p50', 'p99', 'mean'] as const).map((what) => {
      const ratios = runs.map(({ predicted, measured }) => predicted[what] / measured[what]);
      const figure: Figure = {
        name: `${name}: simulated / measured, ${what}`,
        unit: '×',
        summary: summarise(ratios, name),
      };
      return within(figure);
    });
    return [...usual, ...rare(name, runs)];
  });
  const rows = checked.map(({ name, actions, deliveries, predicted, measured, cpu, others }) => [
    ...[name, actions, deliveries],
    ...(['p50', 'p99', 'most', 'mean'] as const).map(
      (what) => `${predicted[what].toFixed(0)} / ${measured[what].toFixed(0)}`,
    ),
    cpu === null ? '–' : `${cpu.predicted.toFixed(1)} / ${cpu.measured.toFixed(1)}`,
    `${others.toFixed(2)}${others > MOST_OTHERS ? ', not counted' : ''}`,
  ]);
  const table: Table = {
    columns: [
      ...['run', 'actions', 'deliveries', 'p50, ms: simulated / measured'],
      ...['p99, ms', 'slowest, ms', 'mean, ms'],
      ...['CPU, s', 'cores at other work'],
    ],
    rows,
  };
  return {
    title: 'The simulation of fanfare plan, beside real runs',
    shownIn: 'docs/scale.md',
    about: [
      'In each round unit costs are measured first; the number of cores is that of the machine, less what the processes use while there is nothing to do, and nothing is fitted. Then actions come by chance at three sizes, of refs with followers by Zipf’s law: real processes deliver them, and the simulation is given the same arrivals. The same with many actions at one moment, with two workers, and with one of two killed while a backlog is delivered; it does not come back.',
      `The time is from when an action should have been published to when its last follower has it. The API, the workers, the database and what publishes share the machine. p99.9 is of all rounds together, where they have a thousand actions. A run beside which something else was at work on more than ${String(MOST_OTHERS)} cores is shown and does not count, unless there is no other.`,
    ],
    figures,
    tables: [table],
    raw: { checked: checked.map(({ lags, ...one }) => ({ ...one, lags: rounded(lags) })) },
  };
}

/** Where nobody else was at work; all, where somebody always was. */
function countedOf(checked: readonly Checked[], name: string): readonly Checked[] {
  const runs = checked.filter((one) => one.name === name);
  const alone = runs.filter(({ others }) => others <= MOST_OTHERS);
  return alone.length === 0 ? runs : alone;
}

function rounded({ measured, predicted }: Checked['lags']): Checked['lags'] {
  const all = (lags: readonly number[]): number[] => lags.map((lag) => Number(lag.toPrecision(3)));
  return { measured: all(measured), predicted: all(predicted) };
}

function rare(name: string, runs: readonly Checked[]): Figure[] {
  const of = (side: 'measured' | 'predicted'): number[] => runs.flatMap(({ lags }) => lags[side]);
  if (of('measured').length < ENOUGH) return [];
  const what = `${name}: simulated / measured, p99.9`;
  const ratio = quantile(of('predicted'), RARE) / quantile(of('measured'), RARE);
  const note = `${of('measured').length.toLocaleString('en')} actions`;
  return [within({ name: what, unit: '×', summary: once(ratio, what), note })];
}

/** What was simulated is to be a quarter above or below what was measured at most. */
function within(figure: Figure): Figure {
  const { median } = figure.summary;
  return { ...figure, target: { says: 'within 25 %', isMet: median >= 0.75 && median <= 1.25 } };
}
