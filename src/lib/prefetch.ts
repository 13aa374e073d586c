/** Passes values on and fetches one value ahead while the consumer works on the one before. */
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

/** Keeps a failure until somebody asks for it, so that it is not reported as unhandled meanwhile. */
async function settle<T>(
  promise: Promise<IteratorResult<T>>,
): Promise<{ readonly next: IteratorResult<T> } | { readonly error: unknown }> {
  try {
    return { next: await promise };
  } catch (error) {
    return { error };
  }
}
