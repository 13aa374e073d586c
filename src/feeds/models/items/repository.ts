import { ObjectId, type Collection } from 'mongodb';
import type { ActionId, UserId } from '../../../domain/action.ts';
import type { FeedEntry } from '../../../domain/newsfeed-item.ts';
import type { NewsfeedItemDocument } from '../../../storage/documents/documents.ts';
import type { StoredEntryDocument } from '../../../storage/documents/feed-documents.ts';
import { duplicatePositions } from '../../../storage/database/errors.ts';
import type { ReaderEntry } from '../shared/entries.ts';
import { storedEntries } from '../shared/stored-entries.ts';

function newDocument(
  userId: UserId,
  actionId: ObjectId,
  entry: Pick<FeedEntry, 'relevancy' | 'reasons'>,
): NewsfeedItemDocument {
  return {
    _id: itemId(userId, actionId),
    ...{ userId, actionId, relevancy: entry.relevancy, reasons: [...entry.reasons] },
  };
}

/**
 * Deterministic, so a reader has one item per action. Contains the reader, the shard key, so that equal ids are on the same
 * shard. The action comes first, so that the inserts of a delivery are adjacent in the index.
 */
export function itemId(userId: UserId, actionId: ObjectId): string {
  return `${actionId.toHexString()}_${userId}`;
}

/** One document per reader and action. Unique key: `_id`. */
export function newsfeedItemsRepository(
  collection: Collection<NewsfeedItemDocument>,
  /** The same collection with the fields that all models share. */
  entries: Collection<StoredEntryDocument>,
) {
  async function insertNew<T>(
    entries: readonly T[],
    toDocument: (entry: T) => NewsfeedItemDocument,
  ): Promise<T[]> {
    if (entries.length === 0) return [];
    try {
      await collection.insertMany(entries.map(toDocument), { ordered: false });
      return [];
    } catch (error) {
      return duplicatePositions(error).flatMap((position) => entries[position] ?? []);
    }
  }

  return {
    ...storedEntries(entries),

    /** Inserts missing entries in one unordered write. Returns those that already existed. */
    async insert(actionId: ActionId, entries: readonly ReaderEntry[]): Promise<ReaderEntry[]> {
      const id = new ObjectId(actionId);
      return insertNew(entries, (entry) => newDocument(entry.userId, id, entry));
    },

    /**
     * Like `raise`, but by `_id`: the ids of an action are adjacent in that index, so it costs less than by `holders`.
     * Misses entries with an id of another form.
     */
    async raiseById(
      actionId: ActionId,
      userIds: readonly UserId[],
      { relevancy, reasons }: Pick<FeedEntry, 'relevancy' | 'reasons'>,
    ): Promise<number> {
      const id = new ObjectId(actionId);
      const { matchedCount } = await collection.updateMany(
        { _id: { $in: userIds.map((userId) => itemId(userId, id)) }, userId: { $in: [...userIds] } },
        { $max: { relevancy }, $addToSet: { reasons: { $each: [...reasons] } } },
      );
      return matchedCount;
    },

    /** Like `insert`, for many actions of one reader. */
    async insertForReader(userId: UserId, entries: readonly FeedEntry[]): Promise<FeedEntry[]> {
      return insertNew(entries, (entry) => newDocument(userId, new ObjectId(entry.actionId), entry));
    },
  };
}

export type NewsfeedItemsRepository = ReturnType<typeof newsfeedItemsRepository>;
