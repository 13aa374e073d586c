/**
 * Maps items with at most `limit` in progress. Work starts, and results are returned, in the order of the items. The first
 * failure ends it, after all running work has ended.
 */
export async function* inFlight<T, R>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // Awaited below, but possibly only after it has failed.
      result.catch(() => undefined);
      running.push(result);
      if (running.length >= limit) yield await shift(running);
    }
    while (running.length > 0) yield await shift(running);
  } finally {
    await Promise.allSettled(running);
  }
}

function shift<R>(running: Promise<R>[]): Promise<R> {
  const first = running.shift();
  if (first === undefined) throw new Error('Nothing is under way');
  return first;
}
