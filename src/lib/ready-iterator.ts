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
