import type { Collection } from 'mongodb';
import type { FeedPosition } from '../../domain/newsfeed-item.ts';
import type { UserId } from '../../domain/action.ts';
import type { FeedDocument } from '../documents/reader-documents.ts';
import { toPosition } from './feed-position.ts';

/** A feed with entries to delete at its floor and below. */
export interface DueTrim {
  readonly userId: UserId;
  readonly floor: FeedPosition;
  readonly trimAt: Date;
}

/** Feeds of which the rest below the floor may be deleted. Part of the repository of feeds. */
export function feedTrims(collection: Collection<FeedDocument>) {
  return {
    /** Leaves out feeds that are to be rebuilt, since that sets the floor again. Index `trim`. */
    async dueTrims(now: Date, limit: number): Promise<DueTrim[]> {
      const documents = await collection
        .find({ trimAt: { $exists: true, $lte: now }, rebuildAt: { $exists: false } })
        .sort({ trimAt: 1 })
        .limit(limit)
        .toArray();
      return documents.flatMap(({ _id, floor, trimAt }) =>
        floor === undefined || trimAt === undefined
          ? []
          : [{ userId: _id, trimAt, floor: toPosition(floor) }],
      );
    },

    /**
     * Blocks rebuilds of the feed until a time: one that continues below the floor would store there what is being deleted.
     * `false`: a rebuild has become due, the floor has risen, or the feed is being trimmed or dropped already.
     */
    async beginTrim(
      { userId, trimAt }: DueTrim,
      { now, until }: { readonly now: Date; readonly until: Date },
    ): Promise<boolean> {
      const { matchedCount } = await collection.updateOne(
        { _id: userId, trimAt, rebuildAt: { $exists: false }, dropUntil: { $not: { $gt: now } } },
        { $set: { dropUntil: until } },
      );
      return matchedCount === 1;
    },

    /** Records that the entries were deleted, unless the floor has risen again since, and lets rebuilds begin. */
    async finishTrim({ userId, trimAt }: DueTrim, until: Date): Promise<void> {
      await collection.updateOne({ _id: userId, dropUntil: until }, [
        {
          $set: {
            trimAt: {
              $cond: [{ $eq: ['$trimAt', trimAt] }, '$$REMOVE', { $ifNull: ['$trimAt', '$$REMOVE'] }],
            },
          },
        },
        { $unset: ['dropUntil'] },
      ]);
    },
  };
}
