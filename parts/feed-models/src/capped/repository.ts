import { type Collection, type Db, ObjectId } from 'mongodb';
import type {
  StoredEntryDocument,
  FeedPlaceDocument,
} from '../../../../src/storage/documents/feed-documents.ts';
import {
  BY_FIELDS,
  storedEntries,
  toEntry,
  toEntryDocument,
} from '../../../../src/feed/models/stored-entries.ts';
import type { UserId } from '../../../../src/domain/action.ts';
import type { FeedEntry, FeedPosition } from '../../../../src/domain/newsfeed-item.ts';
import {
  isDuplicateKey,
  retryOnDuplicateKey,
  duplicatePositions,
} from '../../../../src/storage/database/errors.ts';
import { toPlace, toPosition } from '../../../../src/feed/store/feed-position.ts';
import { inOneBatch } from '../../../../src/storage/database/batches.ts';

const SLOTS = 'feedSlots';
/** Found by `_id`. */
const RINGS = 'feedRings';

interface CappedCollections {
  readonly rings: Collection<FeedRingDocument>;
  readonly slots: Collection<FeedSlotDocument>;
  /** The same collection with the fields that all models share. */
  readonly entries: Collection<StoredEntryDocument>;
}

export function cappedCollections(db: Db): CappedCollections {
  return {
    rings: db.collection(RINGS),
    slots: db.collection(SLOTS),
    entries: db.collection(SLOTS),
  };
}

export type FeedRingsRepository = ReturnType<typeof storedEntries> &
  ReturnType<typeof ringCounters> &
  ReturnType<typeof ringSlots>;

/**
 * Feeds as rings: an entry occupies slot `n mod cap`, with n from a counter per reader. Each slot is one document, so that
 * the write that adds an entry evicts the previous one. Unique keys: the slot, as `_id`, and userId, actionId.
 */
export function feedRingsRepository(
  { rings, slots, entries }: CappedCollections,
  cap: number,
): FeedRingsRepository {
  return { ...storedEntries(entries, BY_FIELDS), ...ringCounters(rings, cap), ...ringSlots(slots) };
}

/** A slot of a reader's ring with its entry. `_id` consists of the reader and the slot number. */
type FeedSlotDocument = StoredEntryDocument;

/** The ring of one reader's feed. `_id` is the reader's id. */
interface FeedRingDocument {
  _id: string;
  /** Numbers handed out so far; number n belongs to slot n mod cap. */
  numFeed: number;
  /** The latest claims of numbers, newest first, each with its first number. */
  claims: { by: ObjectId; first: number }[];
  /** The largest cap under which a still occupied slot may have been filled. */
  extent: number;
  /** The highest evicted position. */
  floor: FeedPlaceDocument | null;
  /** At least `rank` stored entries are at or above this position. Absent: unknown. */
  pivot?: (FeedPlaceDocument & { rank: number }) | null;
}

/** State of a ring right after claiming numbers. */
export interface FeedRing {
  readonly userId: UserId;
  /** The first of the claimed numbers. */
  readonly first: number;
  readonly floor: FeedPosition | null;
  /** A position with its rank: at least so many stored entries are at or above it; `null`: unknown. */
  readonly pivot: RingPivot | null;
  /** Upper bound of occupied slots. */
  readonly extent: number;
}

interface RingPivot extends FeedPosition {
  readonly rank: number;
}

export interface TakenSlot extends FeedEntry {
  readonly slot: number;
}

/** An entry to write into a slot, either a free one or that of an evicted entry. */
export interface SlotWrite {
  readonly userId: UserId;
  readonly slot: number;
  readonly entry: FeedEntry;
  readonly evicted: FeedPosition | null;
}

/** Unambiguous for any user id: the slot number follows the last underscore. */
export function slotId(userId: UserId, slot: number): string {
  return `${userId}_${String(slot)}`;
}

/** Claims by other writers that may come between making a claim and reading it back. */
const CLAIMS_KEPT = 16;

function ringCounters(rings: Collection<FeedRingDocument>, cap: number) {
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

function ringSlots(slots: Collection<FeedSlotDocument>) {
  return {
    /** Entries in these slots, unordered; free slots are left out. */
    async taken(
      places: readonly { readonly userId: UserId; readonly slot: number }[],
    ): Promise<ReadonlyMap<string, FeedPosition>> {
      if (places.length === 0) return new Map();
      const documents = await inOneBatch(
        slots
          .find({
            _id: { $in: places.map(({ userId, slot }) => slotId(userId, slot)) },
            userId: { $in: [...new Set(places.map(({ userId }) => userId))] },
          })
          .hint('_id_')
          .project<{ _id: string; actionId: ObjectId; relevancy: Date }>({ actionId: 1, relevancy: 1 }),
        places.length,
      );
      return new Map(documents.map((document) => [document._id, toPosition(document)]));
    },

    /** The reader's entries with these ranks, counted from 1; fewer at the end. Index `page`. */
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

    async all(userId: UserId): Promise<TakenSlot[]> {
      const documents = await slots.find({ userId }).batchSize(10_000).toArray();
      return documents.map((document) => ({
        ...toEntry(document),
        slot: Number(document._id.slice(userId.length + 1)),
      }));
    },

    /** One unordered write. Returns writes that failed: the slot is occupied, or the reader already has the action. */
    async write(writes: readonly SlotWrite[]): Promise<SlotWrite[]> {
      if (writes.length === 0) return [];
      try {
        await slots.bulkWrite(
          writes.map(({ userId, slot, entry, evicted }) => {
            const _id = slotId(userId, slot);
            const document = toEntryDocument(entry);
            if (evicted === null) return { insertOne: { document: { _id, userId, ...document } } };
            // If another entry occupies the slot by now, this neither matches nor can be inserted.
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

    /** Frees slots whose entries have not been raised meanwhile. */
    async free(userId: UserId, taken: readonly TakenSlot[]): Promise<void> {
      if (taken.length === 0) return;
      await slots.bulkWrite(
        taken.map((one) => ({
          deleteOne: { filter: { _id: slotId(userId, one.slot), userId, ...toPlace(one) } },
        })),
        { ordered: false },
      );
    },
  };
}
