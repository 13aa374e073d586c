import { formatSummary } from './format.ts';
import type { Verdict } from './report.ts';
import type { KeptReport } from './write.ts';

/** A verdict of the first run beside the same one of the second. */
export interface Repeated {
  readonly verdict: Verdict;
  /** Null: the part has not been run a second time. */
  readonly second: Verdict | null;
}

/** The verdicts of a report, each with the one that stands in the same place in the second run. */
export function repeated({ verdicts }: KeptReport, second: KeptReport | null): readonly Repeated[] {
  const places = new Map<string, number>();
  return verdicts.map((verdict) => {
    const place = places.get(verdict.row) ?? 0;
    places.set(verdict.row, place + 1);
    // By place, not by name: a name may say which of several limits was the fastest.
    const others = second?.verdicts.filter(({ row }) => row === verdict.row) ?? [];
    return { verdict, second: others[place] ?? null };
  });
}

/** Whether the median of the second run lies between the lowest and the highest figure of the first. */
export function isWithin({ verdict, second }: Repeated): boolean {
  if (second === null) return false;
  const { min, max } = verdict.figure.summary;
  return second.figure.summary.median >= min && second.figure.summary.median <= max;
}

/** For a cell of the table. */
export function describeSecond(one: Repeated): string {
  const { verdict, second } = one;
  if (second === null) return '–';
  const judged = second.isMet === verdict.isMet ? '' : second.isMet ? '; met' : '; **missed**';
  return `${formatSummary(second.figure.summary, second.figure.unit)}<br>${isWithin(one) ? 'within' : 'outside'}${judged}`;
}
