import { ObjectId, type Collection } from 'mongodb';
import type { ActionId, UserId } from '../../../domain/action.ts';
import type { FeedEntry } from '../../../domain/newsfeed-item.ts';
import type { NewsfeedItemDocument } from '../../../storage/documents/documents.ts';
import type { StoredEntryDocument } from '../../../storage/documents/feed-documents.ts';
import { duplicatePositions } from '../../../storage/database/errors.ts';
import type { ReaderEntry } from '../shared/entries.ts';
import { oneOf, storedEntries, type EntryKeys } from '../shared/stored-entries.ts';

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
 * shard. The action comes first, so that the items of an action are adjacent in the index on `_id`, in the order of their
 * readers: no other index is needed to find them.
 */
export function itemId(userId: UserId, actionId: ObjectId): string {
  return `${actionId.toHexString()}${SEPARATOR}${userId}`;
}

const SEPARATOR = '_';
/** The character after the separator: greater than every id that begins with the action and the separator. */
const BEYOND = '`';

const BY_ID: EntryKeys = {
  of: (userIds, actionIds) => {
    const ids = actionIds.flatMap((actionId) => userIds.map((userId) => `${actionId}${SEPARATOR}${userId}`));
    return { _id: oneOf(ids), userId: oneOf(userIds) };
  },
  holders: (actionId, after) => ({
    filter: {
      _id: {
        $gt: `${actionId}${SEPARATOR}${after ?? ''}`,
        $lt: `${actionId}${BEYOND}`,
      },
    },
    order: { _id: 1 },
  }),
};

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
    ...storedEntries(entries, BY_ID),

    /** Inserts missing entries in one unordered write. Returns those that already existed. */
    async insert(actionId: ActionId, entries: readonly ReaderEntry[]): Promise<ReaderEntry[]> {
      const id = new ObjectId(actionId);
      return insertNew(entries, (entry) => newDocument(entry.userId, id, entry));
    },

    /** Like `insert`, for many actions of one reader. */
    async insertForReader(userId: UserId, entries: readonly FeedEntry[]): Promise<FeedEntry[]> {
      return insertNew(entries, (entry) => newDocument(userId, new ObjectId(entry.actionId), entry));
    },
  };
}

export type NewsfeedItemsRepository = ReturnType<typeof newsfeedItemsRepository>;
