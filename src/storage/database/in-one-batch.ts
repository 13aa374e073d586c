import type { AbstractCursor } from 'mongodb';
import { inTurns } from './in-turns.ts';

/** All documents of a cursor in one round trip: with room for one more document, the first batch is known to be the last. */
export function inOneBatch<T>(cursor: AbstractCursor<T>, atMost: number): Promise<T[]> {
  return inTurns(cursor.batchSize(atMost + 1));
}
