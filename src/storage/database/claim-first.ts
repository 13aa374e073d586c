import type { Collection, Document, Filter, Sort, UpdateFilter, WithId } from 'mongodb';

/** Looked for at once: the first may be lost to other processes that look at the same moment. */
const CANDIDATES = 8;

/**
 * Updates the first document that a filter matches, and gives it as it is then; null where there is none. What is due is
 * looked for without knowing its shard key, and updated by its id, which is what the collections are sharded by: a
 * sharded database may refuse to find and update at once. Two round trips, one where there is none. A candidate that another process
 * takes in between does not match any more.
 */
export async function claimFirst<D extends Document>(
  collection: Collection<D>,
  { due, sort }: { readonly due: Filter<D>; readonly sort: Sort },
  update: UpdateFilter<D> | Document[],
): Promise<WithId<D> | null> {
  return (await claimFirstOf(collection, { due, sort }, update))?.document ?? null;
}

export interface FirstOf<D> {
  readonly document: WithId<D>;
  /** It was the only one that was found. */
  readonly isOnly: boolean;
}

/** The same, and whether others were due. */
export async function claimFirstOf<D extends Document>(
  collection: Collection<D>,
  { due, sort }: { readonly due: Filter<D>; readonly sort: Sort },
  update: UpdateFilter<D> | Document[],
): Promise<FirstOf<D> | null> {
  for (;;) {
    const candidates = await collection
      .find(due)
      .sort(sort)
      .project<Pick<WithId<D>, '_id'>>({ _id: 1 })
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
