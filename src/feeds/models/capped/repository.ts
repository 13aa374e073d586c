import { ObjectId, type Collection, type Db } from 'mongodb';
import type { UserId } from '../../../domain/action.ts';
import type { FeedEntry, FeedPosition } from '../../../domain/newsfeed-item.ts';
import { duplicatePositions, isDuplicateKey, retryOnDuplicateKey } from '../../../storage/errors.ts';
import { toPlace, toPosition } from '../../../storage/feed-position.ts';
import { toEntry, toEntryDocument } from '../shared/entries.ts';
import type { StoredEntryDocument } from '../../../storage/feed-documents.ts';
import type { FeedRingDocument, FeedSlotDocument } from './documents.ts';
import { storedEntries } from '../shared/stored-entries.ts';

/** What is known of a ring when numbers have been taken from it. */
export interface FeedRing {
  readonly userId: UserId;
  /** The first of the numbers. */
  readonly first: number;
  readonly floor: FeedPosition | null;
  /** As many held entries as its rank says are not below it; null: not known. */
  readonly pivot: RankedPosition | null;
  /** Entries may hold places up to here. */
  readonly extent: number;
}

export interface RankedPosition extends FeedPosition {
  readonly rank: number;
}

/** A place with the entry that has it. */
export interface TakenSlot extends FeedEntry {
  readonly slot: number;
}

/** An entry to be put into a place: a free one, or that of an entry which gives way. */
export interface SlotWrite {
  readonly userId: UserId;
  readonly slot: number;
  readonly entry: FeedEntry;
  readonly evicted: FeedPosition | null;
}

export interface CappedCollections {
  readonly rings: Collection<FeedRingDocument>;
  readonly slots: Collection<FeedSlotDocument>;
  /** The same collection, by what its documents have in common with others. */
  readonly entries: Collection<StoredEntryDocument>;
}

export function cappedCollections(db: Db): CappedCollections {
  return {
    rings: db.collection('feedRings'),
    slots: db.collection('feedSlots'),
    entries: db.collection('feedSlots'),
  };
}

/** Claims of others that may come between one's own and its reading. */
const CLAIMS_KEPT = 16;

/**
 * Feeds as rings: an entry has the place `n mod cap`, with n from a counter of the reader's, and is one document, so that
 * what was there gives way by the same write. Unique keys: the place, as `_id`, and userId, actionId.
 */
export function feedRingsRepository({ rings, slots, entries }: CappedCollections, cap: number) {
  return {
    ...storedEntries(entries),

    /** Takes the next `count` numbers of each of these rings, which are made where there are none. Two round trips. */
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
      const documents = await rings
        .find({ _id: { $in: [...userIds] }, 'claims.by': token })
        .batchSize(userIds.length + 1)
        .toArray();
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

    /** Who has these places, in no particular order; free ones are left out. */
    async taken(
      places: readonly { readonly userId: UserId; readonly slot: number }[],
    ): Promise<ReadonlyMap<string, FeedPosition>> {
      if (places.length === 0) return new Map();
      const documents = await slots
        .find({
          _id: { $in: places.map(({ userId, slot }) => slotId(userId, slot)) },
          userId: { $in: [...new Set(places.map(({ userId }) => userId))] },
        })
        .hint('_id_')
        .project<{ _id: string; actionId: ObjectId; relevancy: Date }>({ actionId: 1, relevancy: 1 })
        .batchSize(places.length + 1)
        .toArray();
      return new Map(documents.map((document) => [document._id, toPosition(document)]));
    },

    /** The entries of these ranks, from 1, of what a reader holds; fewer where there are no more. Index `page`. */
    async ranked(userId: UserId, from: number, to: number): Promise<FeedPosition[]> {
      const documents = await slots
        .find({ userId })
        .sort({ relevancy: -1, actionId: -1 })
        .project<{ actionId: ObjectId; relevancy: Date }>({ _id: 0, actionId: 1, relevancy: 1 })
        .skip(from - 1)
        .limit(to - from + 1)
        .toArray();
      return documents.map(toPosition);
    },

    async setPivots(
      pivots: readonly { readonly userId: UserId; readonly pivot: RankedPosition }[],
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

    /** Comes after entries were removed: then nothing is known of how many are left above a place. */
    async forgetPivots(userIds: readonly UserId[]): Promise<void> {
      await rings.updateMany({ _id: { $in: [...userIds] }, pivot: { $ne: null } }, { $set: { pivot: null } });
    },

    /** Raises floors, never lowers them. Comes before what is at them and below gives way. */
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

    /**
     * Puts entries into places, in one unordered write. Returns those it could not: somebody else has taken the place, or
     * the reader holds the action already.
     */
    async write(writes: readonly SlotWrite[]): Promise<SlotWrite[]> {
      if (writes.length === 0) return [];
      try {
        await slots.bulkWrite(
          writes.map(({ userId, slot, entry, evicted }) => {
            const _id = slotId(userId, slot);
            const document = toEntryDocument(entry);
            if (evicted === null) return { insertOne: { document: { _id, userId, ...document } } };
            // Where another entry has the place by now this does not match and cannot be inserted either.
            const filter = { _id, userId, ...toPlace(evicted) };
            return { updateOne: { filter, update: { $set: document }, upsert: true } };
          }),
          { ordered: false },
        );
        return [];
      } catch (error) {
        return duplicatePositions(error).flatMap((position) => writes[position] ?? []);
      }
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

    /** Every entry of a reader's, with its place. */
    async all(userId: UserId): Promise<TakenSlot[]> {
      const documents = await slots.find({ userId }).batchSize(10_000).toArray();
      return documents.map((document) => ({
        ...toEntry(document),
        slot: Number(document._id.slice(userId.length + 1)),
      }));
    },

    /** Takes `count` numbers if the counter stands where it is thought to stand; else false, and nothing is done. */
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

    /** Frees places, where nobody has raised their entries meanwhile. */
    async free(userId: UserId, taken: readonly TakenSlot[]): Promise<void> {
      if (taken.length === 0) return;
      await slots.bulkWrite(
        taken.map((one) => ({
          deleteOne: { filter: { _id: slotId(userId, one.slot), userId, ...toPlace(one) } },
        })),
        { ordered: false },
      );
    },

    /** No place beyond the cap is taken any more. */
    async shrink(userId: UserId, extent: number): Promise<void> {
      await rings.updateOne({ _id: userId, extent }, { $set: { extent: cap } });
    },

    async dropRing(userId: UserId): Promise<void> {
      await rings.deleteOne({ _id: userId });
    },
  };
}

export type FeedRingsRepository = ReturnType<typeof feedRingsRepository>;

/** Unambiguous, whatever is in a user id: what comes after the last underscore is the place. */
export function slotId(userId: UserId, slot: number): string {
  return `${userId}_${String(slot)}`;
}
