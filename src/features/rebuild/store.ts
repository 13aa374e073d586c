import { FIRST_EPOCH } from '../../feed/store/feed-epochs.ts';
import { idsBeside } from '../../domain/stored-id.ts';
import type { Collection, Document } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import type { FeedPosition } from '../../domain/newsfeed-item.ts';
import type { FeedDocument } from '../../storage/documents/reader-documents.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import { type Failure, leased } from '../../storage/database/lease.ts';
import { newObjectId } from '../../storage/database/mongo.ts';
import { floorOf, toPlace } from '../../feed/store/feed-position.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly feedRebuilds: ReturnType<typeof feedRebuilds>;
  }
}

const END_OF_REBUILD = { rebuild: 1, isUnbuilt: 1, isUntold: 1 } as const;

/** A claim on one rebuild, void once the feed becomes due again. */
export interface RebuildClaim {
  readonly userId: UserId;
  readonly token: string;
  readonly version: number;
  /** An earlier rebuild was interrupted: it may have changed the feed without notifying the reader. */
  readonly wasCutOff: boolean;
  /** At the start of the rebuild the stored feed was complete above this position; `null`: to the end. */
  readonly floor: FeedPosition | null;
}

/** Which feeds are due for a rebuild, and their leases. Part of the repository of feeds. */
export function feedRebuilds(collection: Collection<FeedDocument>, epoch = FIRST_EPOCH) {
  const leases = leased(collection, 'rebuild');
  const heldBy = ({ userId, token }: RebuildClaim) => ({ id: userId, token });

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
      const due: Document = {
        rebuildVersion: { $add: [{ $ifNull: ['$rebuildVersion', 0] }, 1] },
        // A rebuild that is under way keeps its lease, and finds at its end that there is another one to do.
        'rebuild.due': { $cond: [{ $gt: ['$rebuild.owner', null] }, '$rebuild.due', now] },
        ...(isNotified === undefined ? {} : { isUntold: isNotified ? '$$REMOVE' : true }),
      };
      const operations = userIds.map((userId) => ({
        updateOne: { filter: { _id: userId }, update: [{ $set: due }], upsert: true },
      }));
      await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
    },

    /**
     * Claims up to so many of the feeds that have been due longest; deliveries that skip them from here on make them stale
     * again. A feed that becomes due during its rebuild waits for the end of it. Three round trips, one if there are none.
     * Index `rebuild`.
     */
    async claimDue(now: Date, leaseMs: number, limit = 1): Promise<RebuildClaim[]> {
      const token = newObjectId();
      const isUnbuilt = { $or: [{ $ifNull: ['$isUnbuilt', false] }, { $ifNull: ['$isStale', false] }] };
      const claimed = await leases.claimSome({ token, now, leaseMs }, limit, {
        where: { dropUntil: { $not: { $gt: now } } },
        then: [{ $set: { isUnbuilt } }, { $unset: ['isStale', 'isDropped', 'dropUntil'] }],
      });
      return claimed.map((document) => {
        const { _id: userId, rebuildVersion: version = 0, rebuild, isUntold = false } = document;
        const wasCutOff = (rebuild?.attempts ?? 1) > 1 || isUntold;
        return { userId, token, version, wasCutOff, floor: floorOf(document, epoch) };
      });
    },

    /** Extends the lease, measured from when the database executes it. `false`: another worker has taken the feed over. */
    renewRebuild: (claim: RebuildClaim, leaseMs: number) =>
      leases.renew(heldBy(claim), { $add: ['$$NOW', leaseMs] }),

    /**
     * Declares the feed complete above the floor, unless it became due again. Entries below may be deleted from `trimAt` on.
     */
    async finishRebuild(
      claim: RebuildClaim,
      {
        floor,
        trimAt,
        now,
      }: { readonly floor: FeedPosition | null; readonly trimAt: Date; readonly now: Date },
    ): Promise<void> {
      const { matchedCount } = await collection.updateOne(
        { ...leases.held(heldBy(claim)), rebuildVersion: claim.version },
        floor === null
          ? { $set: { epoch, rebuiltAt: now }, $unset: { ...END_OF_REBUILD, floor: 1, trimAt: 1 } }
          : { $set: { epoch, rebuiltAt: now, floor: toPlace(floor), trimAt }, $unset: END_OF_REBUILD },
      );
      if (matchedCount === 0) await leases.release(heldBy(claim), now);
    },

    /** Reschedules the rebuild. @param failure it was interrupted, and may have changed the feed without notifying the reader */
    postponeRebuild: (claim: RebuildClaim, until: Date, failure?: Failure) =>
      leases.release(heldBy(claim), until, failure),

    /** Number of pending and running rebuilds, beside an id or of all. Index `rebuild`. */
    async countDue(beside: UserId | null = null): Promise<number> {
      return collection.countDocuments({ ...idsBeside(beside), 'rebuild.due': { $exists: true } });
    },
  };
}
