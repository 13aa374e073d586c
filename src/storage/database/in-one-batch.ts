import type { AbstractCursor } from 'mongodb';

/** All documents of a cursor, in one round trip: a batch with room for one more is known to be the last. */
export function inOneBatch<T>(cursor: AbstractCursor<T>, atMost: number): Promise<T[]> {
  return cursor.batchSize(atMost + 1).toArray();
}
