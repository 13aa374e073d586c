import type { AbstractCursor, Collection, Document, FindCursor, OptionalUnlessRequiredId } from 'mongodb';
import { gathered } from '../../lib/gathered.ts';
import { turn } from '../../lib/turn.ts';
import { duplicatePositions, mayBeOfOne } from './errors.ts';

/** Documents that are decoded in one go: each of the largest actions takes a millisecond. */
const AT_ONCE = 8;

/** All documents of a cursor, as `toArray` gives them, without keeping the event loop from other work meanwhile. */
export async function inTurns<T>(cursor: AbstractCursor<T>): Promise<T[]> {
  const documents: T[] = [];
  try {
    while (cursor.bufferedCount() > 0 || (await cursor.hasNext())) {
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

/** Longer unions save little more of the database's time, and each call waits for all of its union. */
const UNIONS_AT_ONCE = 5;
/** More than most of them find: they take one round trip. */
const READ_AT_ONCE = 2_000;

/** Aggregations of one collection, those at the same time in one command. Results are in no order. */
export function gatheredAggregates<T extends Document>(
  collection: Pick<Collection, 'collectionName' | 'aggregate'>,
  hint: { readonly hint?: string } = {},
): (pipeline: readonly Document[]) => Promise<readonly T[]> {
  const readAll = gathered(
    async (pipelines: readonly (readonly Document[])[]) => {
      const marked = pipelines.map((stages, call) => (call === 0 ? stages : [...stages, { $set: { call } }]));
      const cursor = collection.aggregate<T & { readonly call?: number }>(unionOf(collection, marked), {
        ...hint,
        batchSize: READ_AT_ONCE,
      });
      const found = new Map(pipelines.map((pipeline) => [pipeline, [] as T[]]));
      const lists = [...found.values()];
      for (const document of await inTurns(cursor)) lists[document.call ?? 0]?.push(document);
      return found;
    },
    { most: UNIONS_AT_ONCE, mayBeOfOne },
  );
  return async (pipeline) => (await readAll(pipeline)).get(pipeline) ?? [];
}

/** The ids of what a cursor finds. */
export async function idsOf<D extends { readonly _id: unknown }>(cursor: FindCursor<D>): Promise<D['_id'][]> {
  return (await cursor.project<{ _id: D['_id'] }>({ _id: 1 }).toArray()).map(({ _id }) => _id);
}

/**
 * Inserts documents in one unordered write. Returns those whose keys were there.
 * @param keyOf they are inserted in the order of these, in all processes: of two writes that meet, one waits for the other
 */
export async function insertMissing<D extends Document>(
  collection: Collection<D>,
  documents: readonly D[],
  keyOf: (document: D) => string,
): Promise<ReadonlySet<D>> {
  if (documents.length === 0) return new Set();
  const keyed = documents.map((document) => [keyOf(document), document] as const);
  const inOrder = keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, document]) => document);
  try {
    await collection.insertMany(inOrder as OptionalUnlessRequiredId<D>[], { ordered: false });
    return new Set();
  } catch (error) {
    const positions = new Set(duplicatePositions(error));
    return new Set(inOrder.filter((_document, position) => positions.has(position)));
  }
}
