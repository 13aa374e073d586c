import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Works on many values a slice at a time, one after the other, and lets others run in between: for work that holds the
 * event loop while it begins, as a driver does that turns all of a write into bytes at once. Gives what came of each
 * slice, in order. After a failure nothing more is begun.
 */
export async function inSlices<T, R>(
  values: readonly T[],
  size: number,
  work: (slice: readonly T[]) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < values.length; from += size) {
    if (from > 0) await nextTurn();
    results.push(await work(values.slice(from, from + size)));
  }
  return results;
}
