import type { Figure } from './report.ts';
import { formatSummary, quantile, summarise, timed, type Summary } from './statistics.ts';

/** One of several things measured beside each other: its figures of a round, by their names. */
export type Measure = (round: number) => Promise<Readonly<Record<string, number>>>;

/** One figure, round by round. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

/**
 * Measures alternately – A B C, C B A, A B C … – so that whatever changes on the machine meets all alike. The rounds of
 * the warm-up are thrown away.
 */
export async function alternate(
  measures: readonly Measure[],
  options: { readonly rounds: number; readonly warmUp: number },
): Promise<Series[]> {
  const values = new Map<string, number[]>();
  for (let round = -options.warmUp; round < options.rounds; round++) {
    const order = round % 2 === 0 ? measures : [...measures].reverse();
    for (const measure of order)
      for (const [name, value] of Object.entries(await measure(round)))
        if (round >= 0) values.set(name, [...(values.get(name) ?? []), value]);
  }
  return Array.from(values, ([name, list]) => ({ name, values: list }));
}

/** The p50 of so many times that something is done, in milliseconds. */
export function median(name: string, count: number, work: () => Promise<unknown>): Measure {
  return async () => {
    const times: number[] = [];
    for (let index = 0; index < count; index++) times.push(await timed(work));
    return { [name]: quantile(times, 0.5) };
  };
}

export function seriesNamed(series: readonly Series[], name: string): Series {
  const found = series.find((entry) => entry.name === name);
  if (found === undefined) throw new Error(`Nothing was measured under the name ${name}`);
  return found;
}

/** Value by value of the same round, so that both sides of each ratio met the same machine. */
function ratioOf(a: Series, b: Series): Summary {
  const ratios = a.values.map((value, round) => value / (b.values[round] ?? NaN));
  return summarise(ratios, `${a.name} / ${b.name}`);
}

function summaryOf(series: Series): Summary {
  return summarise(series.values, series.name);
}

/** The series with the smallest median. */
export function fastest(series: readonly Series[]): Series {
  const [first, ...rest] = series;
  if (first === undefined) throw new Error('Nothing was measured');
  return rest.reduce((best, entry) => (medianOf(entry) < medianOf(best) ? entry : best), first);
}

function medianOf({ values }: Series): number {
  return quantile(values, 0.5);
}

export function figureOf(series: Series, unit: string): Figure {
  return { name: series.name, unit, summary: summaryOf(series) };
}

/** One by the other, round by round. */
export function ratioFigure(name: string, a: Series, b: Series, note?: string): Figure {
  return { name, unit: '×', summary: ratioOf(a, b), ...(note === undefined ? {} : { note }) };
}

/** What was measured, with its ratio to something else in a note. */
export function besides(name: string, unit: string, measured: Series, other: Series): Figure {
  const ratio = formatSummary(ratioOf(measured, other), '×');
  const note = `${ratio} of ${formatSummary(summaryOf(other), unit)}, ${other.name}`;
  return { name, unit, summary: summaryOf(measured), note };
}
