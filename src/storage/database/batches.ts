import type { AbstractCursor } from 'mongodb';
import { Turn } from '../../lib/turn.ts';
import type { UserId } from '../../domain/action.ts';

/** Documents that are decoded in one go: each of the largest actions takes a millisecond. */
const AT_ONCE = 8;

/** All documents of a cursor, as `toArray` gives them, without keeping the event loop from other work meanwhile. */
export async function inTurns<T>(cursor: AbstractCursor<T>): Promise<T[]> {
  const documents: T[] = [];
  let turn: Turn | null = null;
  try {
    while (cursor.bufferedCount() > 0 || (await cursor.hasNext())) {
      turn ??= new Turn();
      for (const document of cursor.readBufferedDocuments(AT_ONCE)) documents.push(document);
      if (turn.isOver()) await turn.next();
    }
  } finally {
    await cursor.close();
  }
  return documents;
}

/** All documents of a cursor in one round trip: with room for one more document, the first batch is known to be the last. */
export function inOneBatch<T>(cursor: AbstractCursor<T>, atMost: number): Promise<T[]> {
  return inTurns(cursor.batchSize(atMost + 1));
}

export async function userIds(cursor: {
  project<T extends { _id: UserId }>(projection: { _id: 1 }): { toArray(): Promise<T[]> };
}): Promise<UserId[]> {
  return (await cursor.project<{ _id: UserId }>({ _id: 1 }).toArray()).map(({ _id }) => _id);
}
