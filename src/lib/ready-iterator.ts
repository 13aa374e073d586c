/** An iterator that may have values ready to be taken synchronously. */
export interface ReadyIterator<T> extends AsyncIterableIterator<T, void, undefined> {
  /** Whether a value is probably ready. */
  readonly hasReady: boolean;
  /** Takes the next value; `null` when none is ready. Must not be called while next() is pending. */
  takeReady(): T | null;
  /** What seems to be ready, in order, so that it can be prepared for. */
  readonly ready: readonly T[];
  /**
   * Once nothing is ready: calls `wake` later, once, when something may be. False: only next() can tell.
   */
  whenReady(wake: () => void): boolean;
}

export function isReadyIterator<T>(iterator: AsyncIterator<T>): iterator is ReadyIterator<T> {
  return 'takeReady' in iterator;
}
