import type { Figure } from './report.ts';
import { formatSummary, quantile, summarise, type Summary } from './statistics.ts';

/** One of several things measured beside each other. Gives one figure a round. */
export interface Contender {
  readonly name: string;
  measure(round: number): Promise<number>;
}

/** The figures of a contender, round by round. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

/**
 * Measures alternately – A B C, C B A, A B C … – so that whatever changes on the machine meets all alike. The rounds of
 * the warm-up are thrown away.
 */
export async function alternate(
  contenders: readonly Contender[],
  options: { readonly rounds: number; readonly warmUp: number },
): Promise<Series[]> {
  const values = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  for (let round = -options.warmUp; round < options.rounds; round++) {
    const order = round % 2 === 0 ? contenders : [...contenders].reverse();
    for (const contender of order) {
      const value = await contender.measure(round);
      if (round >= 0) values.get(contender)?.push(value);
    }
  }
  return [...values].map(([{ name }, list]) => ({ name, values: list }));
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
