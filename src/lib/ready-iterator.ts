/** An iterator of which further values may be ready, to be taken without waiting. */
export interface ReadyIterator<T> extends AsyncIterableIterator<T, void, undefined> {
  /** Whether one seems to be. */
  readonly hasReady: boolean;
  /** Takes the next one; null: it has to be waited for. Not while next() is under way. */
  takeReady(): T | null;
}

export function isReadyIterator<T>(iterator: AsyncIterator<T>): iterator is ReadyIterator<T> {
  return 'takeReady' in iterator;
}
