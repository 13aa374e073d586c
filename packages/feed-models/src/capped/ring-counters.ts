import { ObjectId, type Collection } from 'mongodb';
import type { UserId } from '../../../../src/domain/action.ts';
import type { FeedPosition } from '../../../../src/domain/newsfeed-item.ts';
import { isDuplicateKey, retryOnDuplicateKey } from '../../../../src/storage/database/errors.ts';
import { toPlace, toPosition } from '../../../../src/storage/readers/feed-position.ts';
import type { FeedRingDocument } from './documents.ts';
import type { FeedRing, RingPivot } from './ring.ts';
import { inOneBatch } from '../../../../src/storage/database/in-one-batch.ts';

/** Claims by other writers that may come between making a claim and reading it back. */
const CLAIMS_KEPT = 16;

export function ringCounters(rings: Collection<FeedRingDocument>, cap: number) {
  return {
    /** Claims the next `count` numbers of each ring; creates missing rings. Two round trips. */
    async take(userIds: readonly UserId[], count: number): Promise<FeedRing[]> {
      const token = new ObjectId();
      const claim = { by: token, first: { $ifNull: ['$numFeed', 0] } };
      const operations = userIds.map((userId) => ({
        updateOne: {
          filter: { _id: userId },
          update: [
            {
              $set: {
                numFeed: { $add: [{ $ifNull: ['$numFeed', 0] }, count] },
                claims: {
                  $slice: [{ $concatArrays: [[claim], { $ifNull: ['$claims', []] }] }, CLAIMS_KEPT],
                },
                extent: { $max: [{ $ifNull: ['$extent', 0] }, cap] },
                floor: { $ifNull: ['$floor', null] },
              },
            },
          ],
          upsert: true,
        },
      }));
      await retryOnDuplicateKey(() => rings.bulkWrite(operations, { ordered: false }));
      const documents = await inOneBatch(
        rings.find({ _id: { $in: [...userIds] }, 'claims.by': token }),
        userIds.length,
      );
      return documents.flatMap(({ _id: userId, claims, floor, pivot, extent }) => {
        const own = claims.find(({ by }) => by.equals(token));
        if (own === undefined) return [];
        return [
          {
            ...{ userId, extent, first: own.first },
            floor: floor && toPosition(floor),
            pivot: pivot == null ? null : { ...toPosition(pivot), rank: pivot.rank },
          },
        ];
      });
    },

    async ring(userId: UserId): Promise<{
      readonly numFeed: number;
      readonly floor: FeedPosition | null;
      readonly extent: number;
    }> {
      const document = await rings.findOne(
        { _id: userId },
        { projection: { numFeed: 1, floor: 1, extent: 1 } },
      );
      if (document === null) return { numFeed: 0, floor: null, extent: cap };
      const { numFeed, floor, extent } = document;
      return { numFeed, extent, floor: floor && toPosition(floor) };
    },

    /** Claims `count` numbers if the counter still has the expected value; otherwise returns false and does nothing. */
    async takeFrom(userId: UserId, numFeed: number, count: number): Promise<boolean> {
      try {
        const { matchedCount, upsertedCount } = await rings.updateOne(
          { _id: userId, numFeed },
          { $inc: { numFeed: count }, $max: { extent: cap }, $setOnInsert: { claims: [], floor: null } },
          { upsert: numFeed === 0 },
        );
        return matchedCount + upsertedCount === 1;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    async setPivots(
      pivots: readonly { readonly userId: UserId; readonly pivot: RingPivot }[],
    ): Promise<void> {
      if (pivots.length === 0) return;
      await rings.bulkWrite(
        pivots.map(({ userId, pivot }) => ({
          updateOne: {
            filter: { _id: userId },
            update: { $set: { pivot: { ...toPlace(pivot), rank: pivot.rank } } },
          },
        })),
        { ordered: false },
      );
    },

    /** Called after removals: the number of entries above a position is then unknown. */
    async forgetPivots(userIds: readonly UserId[]): Promise<void> {
      await rings.updateMany({ _id: { $in: [...userIds] }, pivot: { $ne: null } }, { $set: { pivot: null } });
    },

    /** Raises floors, never lowers them. Called before entries at or below them are evicted. */
    async raiseFloors(
      floors: readonly { readonly userId: UserId; readonly floor: FeedPosition }[],
    ): Promise<void> {
      if (floors.length === 0) return;
      await rings.bulkWrite(
        floors.map(({ userId, floor }) => {
          const place = toPlace(floor);
          return {
            updateOne: {
              filter: {
                _id: userId,
                $or: [
                  { floor: null },
                  { 'floor.relevancy': { $lt: place.relevancy } },
                  { 'floor.relevancy': place.relevancy, 'floor.actionId': { $lt: place.actionId } },
                ],
              },
              update: { $set: { floor: place } },
            },
          };
        }),
        { ordered: false },
      );
    },

    /** Called once no slot beyond the cap is occupied any more. */
    async shrink(userId: UserId, extent: number): Promise<void> {
      await rings.updateOne({ _id: userId, extent }, { $set: { extent: cap } });
    },

    async dropRing(userId: UserId): Promise<void> {
      await rings.deleteOne({ _id: userId });
    },
  };
}
