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

/** An iterator that may have values ready to be taken synchronously. */
export interface ReadyIterator<T> extends AsyncIterableIterator<T, void, undefined> {
  /** Whether a value is probably ready. */
  readonly hasReady: boolean;
  /** Takes the next value; `null` when none is ready. Must not be called while next() is pending. */
  takeReady(): T | null;
  /** Values that are probably ready, in order, for preparing them. */
  readonly ready: readonly T[];
  /**
   * For when nothing is ready: calls `wake` later, once, when a value may be. `false`: only next() can tell.
   */
  whenReady(wake: () => void): boolean;
}

export function isReadyIterator<T>(iterator: AsyncIterator<T>): iterator is ReadyIterator<T> {
  return 'takeReady' in iterator;
}

/** Makes a synchronous disposable usable among asynchronous ones. */
export function syncToAsync(disposable: Disposable): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: () => {
      disposable[Symbol.dispose]();
      return Promise.resolve();
    },
  };
}

/** Passes values on with a flag for the last one. Each value waits until the next one or the end arrives. */
export async function* markLast<T>(
  source: AsyncIterable<T>,
): AsyncGenerator<{ readonly value: T; readonly isLast: boolean }, void, undefined> {
  let before: { readonly value: T } | null = null;
  for await (const value of source) {
    if (before !== null) yield { value: before.value, isLast: false };
    before = { value };
  }
  if (before !== null) yield { value: before.value, isLast: true };
}
