import type { Collection } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import {
  ofReaderActions,
  readerActionId,
  type ReaderAction,
  readerActions,
  type ReaderActionId,
} from '../../storage/documents/reader-action-id.ts';
import { behind, NEWEST_FIRST, type ReaderListEntry } from '../marks/store/item-marks.ts';
import { inOneBatch } from '../../storage/database/in-one-batch.ts';
import { index } from '../../storage/documents/declaration.ts';

interface BookmarkDocument {
  _id: ReaderActionId;
  at: Date;
}

declare module '../../storage/documents/declaration.ts' {
  interface Documents {
    readonly bookmarks: BookmarkDocument;
  }
}

export const BOOKMARKS = readerActions('bookmarks', {
  holds: 'an action that a reader has bookmarked',
  indexes: [
    index(
      'newest',
      { '_id.userId': 1, at: -1, '_id.actionId': -1 },
      "a reader's bookmarks, newest first; erasure and export",
    ),
  ],
  serves: 'the bookmarks of a reader',
  entry: ({ at }) => ({ at }),
});

/** Actions that readers have bookmarked. Key: `_id`, of reader and action. */
export function bookmarksRepository(collection: Collection<BookmarkDocument>) {
  return {
    /** Keeps an existing bookmark. */
    async add(userId: UserId, actionId: ActionId, at: Date): Promise<void> {
      await retryOnDuplicateKey(() =>
        collection.updateOne(
          { _id: readerActionId(userId, actionId) },
          { $setOnInsert: { at } },
          { upsert: true },
        ),
      );
    },

    async remove(userId: UserId, actionId: ActionId): Promise<void> {
      await collection.deleteOne({ _id: readerActionId(userId, actionId) });
    },

    /** Number of the reader's bookmarks, counted up to a limit. Index `newest`. */
    async count(userId: UserId, limit: number): Promise<number> {
      return collection.countDocuments({ '_id.userId': userId }, { limit });
    },

    /** Bookmarks of these readers among these actions. Index `_id_`. */
    async findPairs(pairs: readonly ReaderAction[]): Promise<ReaderAction[]> {
      const documents = await inOneBatch(collection.find(ofReaderActions(pairs)).hint('_id_'), pairs.length);
      return documents.map(({ _id }) => ({ userId: _id.userId, actionId: _id.actionId.toHexString() }));
    },

    /** Newest first, after an optional position. Index `newest`. */
    async list(userId: UserId, after: ReaderListEntry | null, limit: number): Promise<ReaderListEntry[]> {
      const documents = await collection
        .find({
          '_id.userId': userId,
          ...behind(after),
        })
        .sort(NEWEST_FIRST)
        .limit(limit)
        .batchSize(limit)
        .toArray();
      return documents.map(({ _id, at }) => ({ actionId: _id.actionId.toHexString(), at }));
    },
  };
}
