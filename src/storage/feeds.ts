import type { Collection } from 'mongodb';
import type { UserId } from '../domain/action.ts';
import type { ReaderProfile } from '../domain/viewer.ts';
import type { FeedDocument } from './documents.ts';
import { isDuplicateKey, retryOnDuplicateKey } from './errors.ts';

/** What a reader has said about their feed, and what state it is in. */
export type ReaderMarks = Pick<
  ReaderProfile,
  'lastRead' | 'muted' | 'hasHiddenItems' | 'checksFollows' | 'isRebuilding'
>;

function toMarks(document: FeedDocument | null): ReaderMarks {
  return {
    lastRead: document?.lastRead ?? null,
    muted: new Set(document?.muted),
    hasHiddenItems: document?.hasHiddenItems ?? false,
    checksFollows: document?.checksFollows ?? false,
    isRebuilding: document?.rebuildAt !== undefined,
  };
}

/** One rebuild, void as soon as the feed has become due again. */
export interface RebuildClaim {
  readonly userId: UserId;
  readonly version: number;
}

/** One document per reader. Unique key: `_id`. */
export function feedsRepository(collection: Collection<FeedDocument>) {
  async function set(userId: UserId, update: Parameters<typeof collection.updateOne>[1]): Promise<void> {
    await retryOnDuplicateKey(() => collection.updateOne({ _id: userId }, update, { upsert: true }));
  }

  return {
    async marks(userId: UserId): Promise<ReaderMarks> {
      return toMarks(await collection.findOne({ _id: userId }));
    },

    /** Of each of these readers, who must differ, also of those who have none. In any order. */
    async marksOf(userIds: readonly UserId[]): Promise<(ReaderMarks & { readonly userId: UserId })[]> {
      const documents = await collection
        .find({ _id: { $in: [...userIds] } })
        .batchSize(userIds.length + 1)
        .toArray();
      const byId = new Map(documents.map((document) => [document._id, document]));
      return userIds.map((userId) => ({ userId, ...toMarks(byId.get(userId) ?? null) }));
    },

    /** Moves the mark forward, never back. */
    markRead: (userId: UserId, upTo: Date) => set(userId, { $max: { lastRead: upTo } }),

    /** False when the reader mutes `max` others already. */
    async mute(userId: UserId, memberId: UserId, max: number): Promise<boolean> {
      try {
        await collection.updateOne(
          { _id: userId, muted: { $ne: memberId }, [`muted.${String(max - 1)}`]: { $exists: false } },
          { $addToSet: { muted: memberId } },
          { upsert: true },
        );
        return true;
      } catch (error) {
        // The document is there and does not fit: muted already, or too many.
        if (!isDuplicateKey(error)) throw error;
        return (await collection.countDocuments({ _id: userId, muted: memberId }, { limit: 1 })) === 1;
      }
    },

    async unmute(userId: UserId, memberId: UserId): Promise<void> {
      await collection.updateOne({ _id: userId }, { $pull: { muted: memberId } });
    },

    /** Makes feeds due for a rebuild, in one write. Before the change that is the reason: cut off, it is rebuilt in vain. */
    async markDue(userIds: readonly UserId[], now: Date): Promise<void> {
      if (userIds.length === 0) return;
      const operations = userIds.map((userId) => ({
        updateOne: {
          filter: { _id: userId },
          update: { $inc: { rebuildVersion: 1 }, $set: { rebuildAt: now } },
          upsert: true,
        },
      }));
      await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
    },

    /** The feed that has been due for longest, leased. A lease that ends is taken over. Index `rebuild`. */
    async claimDue(now: Date, leaseMs: number): Promise<RebuildClaim | null> {
      const document = await collection.findOneAndUpdate(
        { rebuildAt: { $exists: true, $lte: now } },
        { $set: { rebuildAt: new Date(now.getTime() + leaseMs) } },
        { sort: { rebuildAt: 1 }, returnDocument: 'after' },
      );
      return document === null ? null : { userId: document._id, version: document.rebuildVersion ?? 0 };
    },

    /** The feed is as it should be, unless it has become due again meanwhile. */
    async finishRebuild({ userId, version }: RebuildClaim): Promise<void> {
      await collection.updateOne({ _id: userId, rebuildVersion: version }, { $unset: { rebuildAt: 1 } });
    },

    /** The feed stays due, from then on. */
    async postponeRebuild({ userId, version }: RebuildClaim, until: Date): Promise<void> {
      await collection.updateOne({ _id: userId, rebuildVersion: version }, { $set: { rebuildAt: until } });
    },

    /** How many feeds are due or being rebuilt. Index `rebuild`. */
    async countDue(): Promise<number> {
      return collection.countDocuments({ rebuildAt: { $exists: true } });
    },

    markHasHiddenItems: (userId: UserId) => set(userId, { $set: { hasHiddenItems: true } }),

    markChecksFollows: (userId: UserId) => set(userId, { $set: { checksFollows: true } }),
  };
}

export type FeedsRepository = ReturnType<typeof feedsRepository>;
