import type { AbstractCursor, Collection, Document, FindCursor } from 'mongodb';
import { Turn } from '../../lib/turn.ts';

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

/** Options of a `find`: at most so many documents, in one round trip. */
export const upTo = (limit: number) => ({ limit, batchSize: limit });

/** The pipelines over one collection in one command. A union keeps no order. */
export function unionOf(
  { collectionName: coll }: Pick<Collection, 'collectionName'>,
  [first = [], ...others]: readonly (readonly Document[])[],
): Document[] {
  return [...first, ...others.map((pipeline) => ({ $unionWith: { coll, pipeline: [...pipeline] } }))];
}

/** The ids of what a cursor finds. */
export async function idsOf<D extends { readonly _id: unknown }>(cursor: FindCursor<D>): Promise<D['_id'][]> {
  return (await cursor.project<{ _id: D['_id'] }>({ _id: 1 }).toArray()).map(({ _id }) => _id);
}
