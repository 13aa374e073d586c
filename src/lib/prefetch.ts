/** Fetches one value ahead while the consumer works on the current one. */
export async function* prefetch<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let ahead = settle(iterator.next());
  try {
    for (;;) {
      const result = await ahead;
      if ('error' in result) throw result.error;
      if (result.next.done === true) return;
      ahead = settle(iterator.next());
      yield result.next.value;
    }
  } finally {
    await ahead;
    await iterator.return?.();
  }
}

/** Holds a failure until it is awaited, so that it is not reported as an unhandled rejection. */
async function settle<T>(
  promise: Promise<IteratorResult<T>>,
): Promise<{ readonly next: IteratorResult<T> } | { readonly error: unknown }> {
  try {
    return { next: await promise };
  } catch (error) {
    return { error };
  }
}
