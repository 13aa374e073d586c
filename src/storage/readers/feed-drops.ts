import type { Collection, Filter } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import { retryOnDuplicateKey } from '../database/errors.ts';
import type { FeedDocument } from '../documents/reader-documents.ts';
import { inOneBatch } from '../database/in-one-batch.ts';

/** Until when who has not read is dormant: for who has read before, and who never has. Null: nobody of them is. */
export interface UnreadSince {
  readonly read: Date | null;
  readonly neverRead: Date | null;
}

/** A filter for readers who have not read since. */
export function isUnread({ read, neverRead }: UnreadSince): Filter<FeedDocument> {
  const kinds: Filter<FeedDocument>[] = [];
  if (read !== null) kinds.push({ activeAt: { $lt: read } });
  if (neverRead !== null)
    kinds.push({ activeAt: { $exists: false }, awaitedSince: { $exists: true, $lt: neverRead } });
  return { $or: kinds };
}

/** Feeds that are not stored any more since nobody reads them. Part of the repository of feeds. */
export function feedDrops(collection: Collection<FeedDocument>) {
  return {
    /** Notes since when something comes to readers who have never read. One round trip where that is known of all. */
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

    /** Readers who have not read since and whose feeds may be stored, in the order of their ids. */
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
     * Vouches for nothing any more that is stored of them, and keeps rebuilds from beginning until then. Void for who has
     * read meanwhile. @returns for whom it is not.
     */
    async beginDrop(
      userIds: readonly UserId[],
      since: UnreadSince,
      { now, until }: { readonly now: Date; readonly until: Date },
    ): Promise<UserId[]> {
      if (userIds.length === 0) return [];
      const ids = { _id: { $in: [...userIds] } };
      await collection.updateMany(
        // One at a time: what is late would throw away what has been made since.
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

    /** Nothing is stored of them. */
    async finishDrop(userIds: readonly UserId[], until: Date): Promise<void> {
      await collection.updateMany(
        { _id: { $in: [...userIds] }, dropUntil: until },
        { $set: { isDropped: true }, $unset: { dropUntil: 1, floor: 1, trimAt: 1 } },
      );
    },
  };
}
