import type { Collection, Document, Filter, Sort, UpdateFilter, WithId } from 'mongodb';

/** Candidates read at once: the first ones may be taken by other processes that look at the same moment. */
const CANDIDATES = 8;

export interface FirstOf<D> {
  readonly document: WithId<D>;
  /** It was the only candidate. */
  readonly isOnly: boolean;
}

/**
 * Updates the first document that matches a filter and returns the updated document; `null` when there is none. Finds
 * candidates without their shard key and then updates one by id, the shard key: a sharded database may refuse findAndModify
 * without it. Two round trips, one if there is none. Candidates taken by another process in between no longer match.
 */
export async function claimFirstOf<D extends Document>(
  collection: Collection<D>,
  { due, sort }: { readonly due: Filter<D>; readonly sort: Sort },
  update: UpdateFilter<D> | Document[],
): Promise<FirstOf<D> | null> {
  for (;;) {
    const candidates = await collection
      .find(due)
      .sort(sort)
      .project<{ _id: WithId<D>['_id'] }>({ _id: 1 })
      .limit(CANDIDATES)
      .batchSize(CANDIDATES)
      .toArray();
    for (const { _id } of candidates) {
      const filter: Filter<D> = { ...due, _id };
      const claimed = await collection.findOneAndUpdate(filter, update, { returnDocument: 'after' });
      if (claimed !== null) return { document: claimed, isOnly: candidates.length === 1 };
    }
    if (candidates.length < CANDIDATES) return null;
  }
}
