import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Calls that are made while work is under way are done together in the next one, at most `most` at once. Each resolves, or
 * rejects, with the work that it was part of.
 * @param sizeOf what of `most` a call takes. One that takes more than all is done at once: it neither waits nor is waited for.
 */
export function gathered<T, R>(
  work: (values: readonly T[]) => Promise<R>,
  most: number,
  sizeOf: (value: T) => number = () => 1,
): (value: T) => Promise<R> {
  let underWay: Promise<unknown> = Promise.resolve();
  let waiting: { readonly values: T[]; size: number; readonly done: Promise<R> } | null = null;
  return (value) => {
    const size = sizeOf(value);
    if (size > most) return work([value]);
    if (waiting !== null && waiting.size + size <= most) {
      waiting.values.push(value);
      waiting.size += size;
      return waiting.done;
    }
    const values = [value];
    // Callers that are answered in the same turn of the event loop call again in it.
    const done = underWay
      .then(() => nextTurn())
      .then(() => {
        if (waiting?.values === values) waiting = null;
        return work(values);
      });
    waiting = { values, size, done };
    // Its callers learn of a failure; the next one does not depend on it.
    underWay = done.catch(() => undefined);
    return done;
  };
}
