import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Processes many values slice by slice and yields to the event loop in between. For work that starts with a long synchronous
 * part, such as a driver that serialises a whole write at once. Returns the results of the slices in order. Stops at the
 * first failure.
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
