import { setTimeout } from 'node:timers/promises';

/** Summary of a handful of measurements of the same thing. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** How many measurements it is made of. */
  readonly count: number;
}

/** @throws Error when there is nothing to summarise, or a value is not a number above zero. */
export function summarise(values: readonly number[], what: string): Summary {
  if (values.length === 0) throw new Error(`${what}: nothing was measured`);
  const wrong = values.find((value) => !Number.isFinite(value) || value <= 0);
  if (wrong !== undefined) throw new Error(`${what}: measured ${String(wrong)}, which makes no sense`);
  return {
    median: quantile(values, 0.5),
    min: Math.min(...values),
    max: Math.max(...values),
    count: values.length,
  };
}

/** Something that is measured once, over the whole run. */
export function once(value: number, what: string): Summary {
  return summarise([value], what);
}

/** The value below which the given share of the values lies, interpolated; NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? NaN;
  const high = sorted[Math.ceil(place)] ?? NaN;
  return low + (high - low) * (place - Math.floor(place));
}

/** Milliseconds of a monotonic clock that all processes of a machine share. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** How long something took, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = now();
  await work();
  return now() - start;
}

const GIVE_UP_MS = 10 * 60_000;

/** Looks until what it finds is done, for ten minutes at most; milliseconds. @throws Error that says what was left. */
export async function untilDone(what: string, everyMs: number, left: () => Promise<number>): Promise<number> {
  const start = now();
  for (let open = await left(); open !== 0; open = await left()) {
    if (now() - start > GIVE_UP_MS) throw new Error(`${what}: ${String(open)} are left`);
    await setTimeout(everyMs);
  }
  return now() - start;
}

/** Three significant digits, thousands separated. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const isTiny = Math.abs(value) < 0.01 && value !== 0;
  return isTiny
    ? value.toPrecision(2)
    : value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** `1.2 ms (1.1–1.4)` */
export function formatSummary({ median, min, max, count }: Summary, unit: string): string {
  const spread = count === 1 ? '' : ` (${formatNumber(min)}–${formatNumber(max)})`;
  return `${formatNumber(median)}${unit === '' ? '' : ` ${unit}`}${spread}`;
}
