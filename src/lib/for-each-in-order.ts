export interface Steps<T, R> {
  /** Asked before each piece of work; once it says no, nothing more is begun. */
  mayBegin(): boolean | Promise<boolean>;
  work(value: T): Promise<R>;
  /** Called one at a time and in the order of the values, for what is done and has everything before it done. */
  conclude(value: T, result: R): Promise<void>;
}

/**
 * Works on values side by side, at most `limit` at a time, and concludes them in their order. What is being concluded
 * counts, too, so that never more than `limit` are begun and not concluded. After the first failure nothing is begun or
 * concluded any more; it rejects with that failure when everything under way has ended.
 */
export async function forEachInOrder<T, R>(
  source: AsyncIterable<T>,
  limit: number,
  steps: Steps<T, R>,
): Promise<void> {
  const underWay: Promise<void>[] = [];
  let last: Promise<void> = Promise.resolve();
  const progress = { hasFailed: false };
  const run = async (value: T, before: Promise<void>): Promise<void> => {
    const [earlier, own] = await Promise.allSettled([before, steps.work(value)]);
    if (earlier.status === 'rejected') throw earlier.reason;
    if (own.status === 'rejected') throw own.reason;
    await steps.conclude(value, own.value);
  };
  try {
    for await (const value of source) {
      if (progress.hasFailed || !(await steps.mayBegin())) break;
      last = run(value, last);
      underWay.push(last);
      last.catch(() => {
        progress.hasFailed = true;
      });
      if (underWay.length >= limit) await underWay.shift();
    }
  } finally {
    await Promise.allSettled(underWay);
  }
  await last;
}
