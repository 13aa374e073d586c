export interface Steps<T, R> {
  /** Asked before each value. After the first `false` no more work starts. */
  mayBegin(): boolean | Promise<boolean>;
  work(value: T): Promise<R>;
  /** Called one at a time and in order, once a value and all values before it are done. */
  conclude(value: T, result: R): Promise<void>;
}

/**
 * Works on up to `limit` values concurrently and concludes them in order. Values being concluded count towards the limit.
 * After the first failure nothing more is started or concluded; it rejects with that failure once all running work has
 * ended.
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
