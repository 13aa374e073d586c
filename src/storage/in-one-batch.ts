import type { AbstractCursor } from 'mongodb';

/**
 * All documents of a cursor that has so many at most, in one round trip: only a batch that could have held one more is
 * known to be the last.
 */
export function inOneBatch<T>(cursor: AbstractCursor<T>, atMost: number): Promise<T[]> {
  return cursor.batchSize(atMost + 1).toArray();
}
