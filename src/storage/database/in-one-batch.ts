import type { AbstractCursor } from 'mongodb';

/** All documents of a cursor in one round trip: with room for one more document, the first batch is known to be the last. */
export function inOneBatch<T>(cursor: AbstractCursor<T>, atMost: number): Promise<T[]> {
  return cursor.batchSize(atMost + 1).toArray();
}
