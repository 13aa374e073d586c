import type { Collection, ObjectId } from 'mongodb';
import type { UserId } from '../../../../src/domain/action.ts';
import type { FeedPosition } from '../../../../src/domain/newsfeed-item.ts';
import { duplicatePositions } from '../../../../src/storage/database/errors.ts';
import { toPlace, toPosition } from '../../../../src/storage/readers/feed-position.ts';
import { toEntry, toEntryDocument } from '../../../../src/feeds/models/shared/entries.ts';
import type { FeedSlotDocument } from './documents.ts';
import { slotId, type SlotWrite, type TakenSlot } from './ring.ts';
import { inOneBatch } from '../../../../src/storage/database/in-one-batch.ts';

export function ringSlots(slots: Collection<FeedSlotDocument>) {
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
