import type { Collection } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import type { FeedPosition } from '../../domain/newsfeed-item.ts';
import { claimFirstOf } from '../../storage/database/claim-first.ts';
import type { Tenant } from '../../domain/tenant.ts';
import type { FeedDocument } from '../../storage/documents/reader-documents.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import { idsOfTenant } from '../../storage/database/mongo.ts';
import { floorOf, toPlace } from '../../feed/store/feed-position.ts';

const END_OF_REBUILD = {
  rebuildAt: 1,
  rebuildLease: 1,
  isUnbuilt: 1,
  rebuildsBegun: 1,
  isUntold: 1,
} as const;

/** A claim on one rebuild, void once the feed becomes due again. */
export interface RebuildClaim {
  readonly userId: UserId;
  readonly version: number;
  /** An earlier rebuild was interrupted: it may have changed the feed without notifying the reader. */
  readonly wasCutOff: boolean;
  /** At the start of the rebuild the stored feed was complete above this position; `null`: to the end. */
  readonly floor: FeedPosition | null;
}

export interface FoundRebuild extends RebuildClaim {
  /** No other feed was due. */
  readonly isOnly: boolean;
}

/** Which feeds are due for a rebuild, and their leases. Part of the repository of feeds. */
export function feedRebuilds(collection: Collection<FeedDocument>, epoch: number) {
  /** Ends a rebuild of a feed that became due again, in order: the next one may start. */
  async function endOvertaken(userId: UserId): Promise<void> {
    await collection.updateOne({ _id: userId }, { $inc: { rebuildsBegun: -1 }, $unset: { rebuildLease: 1 } });
  }

  return {
    /**
     * Requests rebuilds in one write. Called before the change that requires it: if that is interrupted, the rebuild does no
     * harm.
     *
     * @param how.isNotified whether watchers have been notified of the change. Pass false before the change: if it is
     * interrupted before it
     *   notifies them, the rebuild does.
     */
    async markDue(
      userIds: readonly UserId[],
      now: Date,
      { isNotified }: { readonly isNotified?: boolean } = {},
    ): Promise<void> {
      if (userIds.length === 0) return;
      const operations = userIds.map((userId) => ({
        updateOne: {
          filter: { _id: userId },
          update: {
            $inc: { rebuildVersion: 1 },
            $set: { rebuildAt: now, ...(isNotified === false ? { isUntold: true } : {}) },
            ...(isNotified === true ? { $unset: { isUntold: 1 as const } } : {}),
          },
          upsert: true,
        },
      }));
      await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
    },

    /**
     * Claims the feed that has been due longest; deliveries that skip it from here on make it stale again. A feed that
     * becomes due during its rebuild waits for the end of it. Expired leases are taken over. Index `rebuild`.
     */
    async claimDue(now: Date, leaseMs: number): Promise<FoundRebuild | null> {
      const until = new Date(now.getTime() + leaseMs);
      const first = await claimFirstOf(
        collection,
        {
          due: {
            rebuildAt: { $exists: true, $lte: now },
            rebuildLease: { $not: { $gt: now } },
            dropUntil: { $not: { $gt: now } },
          },
          sort: { rebuildAt: 1 },
        },
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
          { $unset: ['isStale', 'isDropped', 'dropUntil'] },
        ],
      );
      if (first === null) return null;
      const { document, isOnly } = first;
      const { _id: userId, rebuildVersion: version = 0, rebuildsBegun = 1, isUntold = false } = document;
      return {
        ...{ userId, version, isOnly },
        wasCutOff: rebuildsBegun > 1 || isUntold,
        floor: floorOf(document, epoch),
      };
    },

    /** Extends the lease, measured from when the database executes it. `false`: the rebuild has ended. */
    async renewRebuild({ userId, version }: RebuildClaim, leaseMs: number): Promise<boolean> {
      const until = { $add: ['$$NOW', leaseMs] };
      const { matchedCount } = await collection.updateOne({ _id: userId, rebuildLease: { $exists: true } }, [
        {
          $set: {
            rebuildLease: until,
            // If it became due again, keep its due time.
            rebuildAt: { $cond: [{ $eq: ['$rebuildVersion', version] }, until, '$rebuildAt'] },
          },
        },
      ]);
      return matchedCount === 1;
    },

    /**
     * Declares the feed complete above the floor, unless it became due again. Entries below may be deleted from `trimAt` on.
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
          : { $set: { epoch, rebuiltAt: now, floor: toPlace(floor), trimAt }, $unset: END_OF_REBUILD },
      );
      if (matchedCount === 0) await endOvertaken(userId);
    },

    /** Reschedules the rebuild. @param how.wasCutOff it may have changed the feed without notifying the reader. */
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

    /** Number of pending and running rebuilds, of one tenant or of all. Index `rebuild`. */
    async countDue(tenant: Tenant | null = null): Promise<number> {
      return collection.countDocuments({ ...idsOfTenant(tenant), rebuildAt: { $exists: true } });
    },
  };
}
