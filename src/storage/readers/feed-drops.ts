import type { Collection, Filter } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import { retryOnDuplicateKey } from '../database/errors.ts';
import type { FeedDocument } from '../documents/reader-documents.ts';
import { inOneBatch } from '../database/in-one-batch.ts';

/** Readers whose last read is before `read`, or who never read and had deliveries before `neverRead`. `null`: none. */
export interface UnreadSince {
  readonly read: Date | null;
  readonly neverRead: Date | null;
}

/** Filter for readers who have not read since. */
export function isUnread({ read, neverRead }: UnreadSince): Filter<FeedDocument> {
  const kinds: Filter<FeedDocument>[] = [];
  if (read !== null) kinds.push({ activeAt: { $lt: read } });
  if (neverRead !== null)
    kinds.push({ activeAt: { $exists: false }, awaitedSince: { $exists: true, $lt: neverRead } });
  return { $or: kinds };
}

/** Feeds that are not stored because nobody reads them. Part of the repository of feeds. */
export function feedDrops(collection: Collection<FeedDocument>) {
  return {
    /** Records the first delivery to readers who have never read. One round trip if it is already recorded for all. */
    async noteAwaited(userIds: readonly UserId[], now: Date): Promise<void> {
      const known = await inOneBatch(
        collection
          .find({
            _id: { $in: [...userIds] },
            $or: [{ activeAt: { $exists: true } }, { awaitedSince: { $exists: true } }],
          })
          .project<{ _id: string }>({ _id: 1 }),
        userIds.length,
      );
      const isKnown = new Set(known.map(({ _id }) => _id));
      const operations = userIds
        .filter((userId) => !isKnown.has(userId))
        .map((_id) => ({
          updateOne: { filter: { _id }, update: { $min: { awaitedSince: now } }, upsert: true },
        }));
      if (operations.length > 0)
        await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
    },

    /** Inactive readers whose feeds may be stored, in order of id. */
    async unread(since: UnreadSince, after: UserId | null, limit: number): Promise<UserId[]> {
      if (since.read === null && since.neverRead === null) return [];
      const found = await collection
        .find({
          ...isUnread(since),
          ...(after === null ? {} : { _id: { $gt: after } }),
          isDropped: { $exists: false },
          rebuildAt: { $exists: false },
        })
        .sort({ _id: 1 })
        .project<{ _id: string }>({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id }) => _id);
    },

    /**
     * Marks stored feeds as incomplete and blocks rebuilds until a time. Does nothing for readers who have read meanwhile.
     * @returns the readers marked
     */
    async beginDrop(
      userIds: readonly UserId[],
      since: UnreadSince,
      { now, until }: { readonly now: Date; readonly until: Date },
    ): Promise<UserId[]> {
      if (userIds.length === 0) return [];
      const ids = { _id: { $in: [...userIds] } };
      await collection.updateMany(
        // Only one drop at a time: a late one would delete what was rebuilt since.
        {
          ...{ ...ids, ...isUnread(since), rebuildAt: { $exists: false } },
          dropUntil: { $not: { $gt: now } },
        },
        { $set: { isStale: true, dropUntil: until }, $inc: { rebuildVersion: 1 } },
      );
      const begun = await collection
        .find({ ...ids, dropUntil: until })
        .project<{ _id: string }>({ _id: 1 })
        .toArray();
      return begun.map(({ _id }) => _id);
    },

    /** Records that the feeds are no longer stored. */
    async finishDrop(userIds: readonly UserId[], until: Date): Promise<void> {
      await collection.updateMany(
        { _id: { $in: [...userIds] }, dropUntil: until },
        { $set: { isDropped: true }, $unset: { dropUntil: 1, floor: 1, trimAt: 1 } },
      );
    },
  };
}
