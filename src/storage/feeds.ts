import { ObjectId, type Collection } from 'mongodb';
import type { UserId } from '../domain/action.ts';
import { FLOOR_ABOVE_ALL, type FeedPosition } from '../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../domain/viewer.ts';
import type { FeedDocument } from './documents.ts';
import { isDuplicateKey, retryOnDuplicateKey } from './errors.ts';
import { FIRST_EPOCH } from './feed-epochs.ts';

/** What a reader has said about their feed, and what state it is in. */
export type ReaderMarks = Pick<
  ReaderProfile,
  | 'lastRead'
  | 'muted'
  | 'hasHiddenItems'
  | 'checksFollows'
  | 'isRebuilding'
  | 'floor'
  | 'rebuiltAt'
  | 'activeAt'
>;

function toMarks(document: FeedDocument | null, epoch: number): ReaderMarks {
  return {
    floor: floorOf(document, epoch),
    rebuiltAt: document?.rebuiltAt ?? null,
    activeAt: document?.activeAt ?? null,
    lastRead: document?.lastRead ?? null,
    muted: new Set(document?.muted),
    hasHiddenItems: document?.hasHiddenItems ?? false,
    checksFollows: document?.checksFollows ?? false,
    isRebuilding: document?.rebuildAt !== undefined,
  };
}

/** Nothing is vouched for that was stored under another feed model, or while nothing was delivered. */
function floorOf(document: FeedDocument | null, epoch: number): FeedPosition | null {
  if (document?.isStale === true || document?.isUnbuilt === true) return FLOOR_ABOVE_ALL;
  if ((document?.epoch ?? FIRST_EPOCH) !== epoch) return FLOOR_ABOVE_ALL;
  const floor = document?.floor;
  return floor === undefined ? null : { relevancy: floor.relevancy, actionId: floor.actionId.toHexString() };
}

const END_OF_REBUILD = {
  rebuildAt: 1,
  rebuildLease: 1,
  isUnbuilt: 1,
  rebuildsBegun: 1,
  isUntold: 1,
} as const;

/** One rebuild, void as soon as the feed has become due again. */
export interface RebuildClaim {
  readonly userId: UserId;
  readonly version: number;
  /** What was done before was cut off: it may have changed the feed and not told its reader. */
  readonly wasCutOff: boolean;
}

/**
 * One document per reader. Unique key: `_id`.
 * @param epoch the choice of a feed model that holds now; see `feed-epochs.ts`.
 */
export function feedsRepository(collection: Collection<FeedDocument>, epoch: number = FIRST_EPOCH) {
  async function set(userId: UserId, update: Parameters<typeof collection.updateOne>[1]): Promise<void> {
    await retryOnDuplicateKey(() => collection.updateOne({ _id: userId }, update, { upsert: true }));
  }

  /** Ends a rebuild of a feed that has become due again, in good order: the next one may begin. */
  async function endOvertaken(userId: UserId): Promise<void> {
    await collection.updateOne({ _id: userId }, { $inc: { rebuildsBegun: -1 }, $unset: { rebuildLease: 1 } });
  }

  return {
    async marks(userId: UserId): Promise<ReaderMarks> {
      return toMarks(await collection.findOne({ _id: userId }), epoch);
    },

    /** Of each of these readers, who must differ, also of readers who have none. In any order. */
    async marksOf(userIds: readonly UserId[]): Promise<(ReaderMarks & { readonly userId: UserId })[]> {
      const documents = await collection
        .find({ _id: { $in: [...userIds] } })
        .batchSize(userIds.length + 1)
        .toArray();
      const byId = new Map(documents.map((document) => [document._id, document]));
      return userIds.map((userId) => ({ userId, ...toMarks(byId.get(userId) ?? null, epoch) }));
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

    /**
     * Makes feeds due for a rebuild, in one write. Before the change that is the reason: cut off, it is rebuilt in vain.
     *
     * @param how.isTold whether watchers have been notified of the change. False before it is made: if it is cut off before
     *   it has told them, the rebuild does.
     */
    async markDue(
      userIds: readonly UserId[],
      now: Date,
      { isTold }: { readonly isTold?: boolean } = {},
    ): Promise<void> {
      if (userIds.length === 0) return;
      const operations = userIds.map((userId) => ({
        updateOne: {
          filter: { _id: userId },
          update: {
            $inc: { rebuildVersion: 1 },
            $set: { rebuildAt: now, ...(isTold === false ? { isUntold: true } : {}) },
            ...(isTold === true ? { $unset: { isUntold: 1 as const } } : {}),
          },
          upsert: true,
        },
      }));
      await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
    },

    /**
     * The feed that has been due for longest, leased; what passes it by from here on makes it stale again. One that became
     * due again while it is rebuilt waits for the end of that. A lease that ends is taken over. Index `rebuild`.
     */
    async claimDue(now: Date, leaseMs: number): Promise<RebuildClaim | null> {
      const until = new Date(now.getTime() + leaseMs);
      const document = await collection.findOneAndUpdate(
        { rebuildAt: { $exists: true, $lte: now }, rebuildLease: { $not: { $gt: now } } },
        [
          {
            $set: {
              rebuildAt: until,
              rebuildLease: until,
              rebuildsBegun: { $add: [{ $ifNull: ['$rebuildsBegun', 0] }, 1] },
              isUnbuilt: {
                $or: [{ $ifNull: ['$isUnbuilt', false] }, { $ifNull: ['$isStale', false] }],
              },
            },
          },
          { $unset: ['isStale'] },
        ],
        { sort: { rebuildAt: 1 }, returnDocument: 'after' },
      );
      if (document === null) return null;
      const { _id: userId, rebuildVersion: version = 0, rebuildsBegun = 1, isUntold = false } = document;
      return { userId, version, wasCutOff: rebuildsBegun > 1 || isUntold };
    },

    /** Extends the lease, from when the database does it on. False: the rebuild has ended. */
    async renewRebuild({ userId, version }: RebuildClaim, leaseMs: number): Promise<boolean> {
      const until = { $add: ['$$NOW', leaseMs] };
      const { matchedCount } = await collection.updateOne({ _id: userId, rebuildLease: { $exists: true } }, [
        {
          $set: {
            rebuildLease: until,
            // Due again: it stays due when it was to be.
            rebuildAt: { $cond: [{ $eq: ['$rebuildVersion', version] }, until, '$rebuildAt'] },
          },
        },
      ]);
      return matchedCount === 1;
    },

    /**
     * The feed is as it should be above the floor, unless it has become due again meanwhile. What is stored below may be
     * forgotten from `trimAt` on.
     */
    async finishRebuild(
      { userId, version }: RebuildClaim,
      {
        floor,
        trimAt,
        now,
      }: { readonly floor: FeedPosition | null; readonly trimAt: Date; readonly now: Date },
    ): Promise<void> {
      const { matchedCount } = await collection.updateOne(
        { _id: userId, rebuildVersion: version },
        floor === null
          ? { $set: { epoch, rebuiltAt: now }, $unset: { ...END_OF_REBUILD, floor: 1, trimAt: 1 } }
          : { $set: { epoch, rebuiltAt: now, floor: stored(floor), trimAt }, $unset: END_OF_REBUILD },
      );
      if (matchedCount === 0) await endOvertaken(userId);
    },

    /** Notes that the reader reads, and tells their marks as they are then. One atomic write. */
    async touch(userId: UserId, now: Date): Promise<ReaderMarks> {
      const document = await retryOnDuplicateKey(() =>
        collection.findOneAndUpdate(
          { _id: userId },
          { $max: { activeAt: now } },
          { upsert: true, returnDocument: 'after' },
        ),
      );
      return toMarks(document, epoch);
    },

    /** Whether anybody has not read since. Index `active`. */
    async hasDormant(since: Date): Promise<boolean> {
      return (await collection.findOne({ activeAt: { $lt: since } }, { projection: { _id: 1 } })) !== null;
    },

    /**
     * Those of the readers who have not read since, and to whom nothing need be delivered: their feeds are marked first, so
     * that a read in this moment knows that something is missing. One round trip where nobody is dormant, else
     * three.
     */
    async skipDormant(userIds: readonly UserId[], since: Date): Promise<UserId[]> {
      const isDormant = { _id: { $in: [...userIds] }, activeAt: { $lt: since } };
      const dormant = await collection.find(isDormant).project<{ _id: string }>({ _id: 1 }).toArray();
      if (dormant.length === 0) return [];
      const ids = dormant.map(({ _id }) => _id);
      // A rebuild that is under way does not know of what passes by now: it is void.
      await collection.updateMany(
        { ...isDormant, _id: { $in: ids }, isStale: { $ne: true } },
        { $set: { isStale: true }, $inc: { rebuildVersion: 1 } },
      );
      const skipped = await collection
        .find({ _id: { $in: ids }, activeAt: { $lt: since }, isStale: true })
        .project<{ _id: string }>({ _id: 1 })
        .toArray();
      return skipped.map(({ _id }) => _id);
    },

    /** Raises the floor, never lowers it, and notes when the store may forget what lies below. */
    async raiseFloor(userId: UserId, floor: FeedPosition, trimAt: Date): Promise<void> {
      const { relevancy, actionId } = stored(floor);
      await retryOnDuplicateKey(() =>
        collection.updateOne(
          { _id: userId },
          [
            {
              $set: {
                floor: {
                  $cond: [
                    {
                      $or: [
                        { $gt: ['$floor.relevancy', relevancy] },
                        {
                          $and: [
                            { $eq: ['$floor.relevancy', relevancy] },
                            { $gt: ['$floor.actionId', actionId] },
                          ],
                        },
                      ],
                    },
                    '$floor',
                    { relevancy, actionId },
                  ],
                },
                trimAt,
              },
            },
          ],
          { upsert: true },
        ),
      );
    },

    /** Feeds whose stored rest may be forgotten, with the floor from which on. Index `trim`. */
    async dueTrims(
      now: Date,
      limit: number,
    ): Promise<{ readonly userId: UserId; readonly floor: FeedPosition; readonly trimAt: Date }[]> {
      const documents = await collection
        .find({ trimAt: { $exists: true, $lte: now } })
        .sort({ trimAt: 1 })
        .limit(limit)
        .toArray();
      return documents.flatMap(({ _id, floor, trimAt }) =>
        floor === undefined || trimAt === undefined
          ? []
          : [
              {
                userId: _id,
                trimAt,
                floor: { relevancy: floor.relevancy, actionId: floor.actionId.toHexString() },
              },
            ],
      );
    },

    /** The store has forgotten it, unless the floor has risen again since. */
    async finishTrim(userId: UserId, trimAt: Date): Promise<void> {
      await collection.updateOne({ _id: userId, trimAt }, { $unset: { trimAt: 1 } });
    },

    /**
     * The feed stays due, from then on.
     * @param how.wasCutOff whether the rebuild may have changed the feed and not told its reader.
     */
    async postponeRebuild(
      { userId, version }: RebuildClaim,
      until: Date,
      how: { readonly wasCutOff: boolean } = { wasCutOff: false },
    ): Promise<void> {
      const { matchedCount } = await collection.updateOne(
        { _id: userId, rebuildVersion: version },
        {
          $set: { rebuildAt: until },
          $unset: { rebuildLease: 1, ...(how.wasCutOff ? {} : { rebuildsBegun: 1 as const }) },
        },
      );
      if (matchedCount === 0 && !how.wasCutOff) await endOvertaken(userId);
    },

    /** How many feeds are due or being rebuilt. Index `rebuild`. */
    async countDue(): Promise<number> {
      return collection.countDocuments({ rebuildAt: { $exists: true } });
    },

    markHasHiddenItems: (userId: UserId) => set(userId, { $set: { hasHiddenItems: true } }),

    markChecksFollows: (userId: UserId) => set(userId, { $set: { checksFollows: true } }),
  };
}

function stored({ relevancy, actionId }: FeedPosition): NonNullable<FeedDocument['floor']> {
  return { relevancy, actionId: new ObjectId(actionId) };
}

export type FeedsRepository = ReturnType<typeof feedsRepository>;
