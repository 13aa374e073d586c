import { ObjectId, type Collection } from 'mongodb';
import type { ActionId, UserId } from '../../../domain/action.ts';
import type { ItemState } from '../../../domain/item-states.ts';
import type { ItemMark } from '../../../domain/newsfeed-item.ts';
import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import {
  newest,
  ofReaderActions,
  readerActionId,
  type ReaderAction,
  readerActions,
  type ReaderListEntry,
} from '../../../storage/documents/reader-action-id.ts';
import { toMark } from '../../../storage/documents/item-mark-document.ts';
import type { ItemMarkDocument } from '../../../storage/documents/reader-documents.ts';
import { NO_END } from './mark-ends.ts';
import { inOneBatch, upTo } from '../../../storage/database/batches.ts';
import { index } from '../../../storage/documents/declaration.ts';
import type { Stretch } from '../../../storage/documents/keyset.ts';

/** Upper bound on items marked unread: every count reads their ids. Concurrent calls may exceed it. */
export const MAX_MARKED_UNREAD = 1_000;

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly itemMarks: ReturnType<typeof itemMarksRepository>;
  }
}

export const ITEM_MARKS = readerActions('itemMarks', {
  holds: 'an item that a reader has hidden, archived, snoozed, read or marked as unread',
  indexes: [
    index(
      'state',
      { '_id.userId': 1, state: 1, at: -1, '_id.actionId': -1 },
      'what a reader has hidden or archived, newest first; erasure and export',
    ),
    index('unread', { '_id.userId': 1 }, 'what a reader has marked as unread', {
      partialFilterExpression: { isUnread: true },
    }),
    index(
      'snoozes',
      { '_id.userId': 1, until: -1 },
      'what a reader has put away until a time, and what of it is back in the feed',
      { partialFilterExpression: { until: { $exists: true } } },
    ),
    index('snoozes_due', { 'lifting.due': 1 }, 'the next states that end', {
      partialFilterExpression: { 'lifting.due': { $exists: true } },
    }),
  ],
  serves: 'marked items of a reader',
  entry: ({ _id: _id, lifting: _lifting, isOver: _isOver, ...mark }) => mark,
  marks: ({ _id: { userId }, isUnread, until }) => ({
    userId,
    ...(isUnread === true ? { hasUnreadMarks: true } : {}),
    ...(until === undefined ? {} : { hasSnoozes: true }),
  }),
});

/** Readers' marks on single items. Key: `_id`, of reader and action. */
export function itemMarksRepository(collection: Collection<ItemMarkDocument>) {
  async function markAll(
    userId: UserId,
    updates: readonly {
      readonly actionId: ActionId;
      readonly update: Parameters<typeof collection.updateOne>[1];
    }[],
  ): Promise<void> {
    const operations = updates.map(({ actionId, update }) => ({
      updateOne: { filter: { _id: readerActionId(userId, actionId) }, update, upsert: true },
    }));
    await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
  }

  return {
    /** Replaces the current state; setting the same state again keeps its time. */
    async set(userId: UserId, actionId: ActionId, state: ItemState, at: Date): Promise<void> {
      await retryOnDuplicateKey(() =>
        collection.updateOne(
          { _id: readerActionId(userId, actionId) },
          [
            { $set: { at: { $cond: [{ $eq: ['$state', state] }, '$at', at] }, state } },
            { $unset: Object.keys(NO_END) },
          ],
          { upsert: true },
        ),
      );
    },

    /** Clears a state; another state stays. */
    async clear(userId: UserId, actionId: ActionId, state: ItemState): Promise<void> {
      await collection.updateOne(
        { _id: readerActionId(userId, actionId), state },
        { $unset: { state: 1, at: 1 } },
      );
    },

    async markRead(
      userId: UserId,
      items: readonly { readonly actionId: ActionId; readonly readAt: Date }[],
    ): Promise<void> {
      await markAll(
        userId,
        items.map(({ actionId, readAt }) => ({
          actionId,
          update: { $max: { readAt }, $unset: { isUnread: 1 } },
        })),
      );
    },

    async markUnread(userId: UserId, actionIds: readonly ActionId[]): Promise<void> {
      const update = { $set: { isUnread: true }, $unset: { readAt: 1 } } as const;
      await markAll(
        userId,
        actionIds.map((actionId) => ({ actionId, update })),
      );
    },

    /** Items the reader marked as unread. One round trip. Index `unread`. */
    async unread(userId: UserId): Promise<ActionId[]> {
      const documents = await inOneBatch(
        collection
          .find({ '_id.userId': userId, isUnread: true })
          .project<{ _id: ItemMarkDocument['_id'] }>({ _id: 1 }),
        MAX_MARKED_UNREAD,
      );
      return documents.map(({ _id }) => _id.actionId.toHexString());
    },

    /** The same, so many of the newest actions among them, or of those before one. Index `unread`. */
    async newestUnread(userId: UserId, before: ActionId | null, limit: number): Promise<ActionId[]> {
      const documents = await collection
        .find(
          {
            ...{ '_id.userId': userId, isUnread: true },
            ...(before === null ? {} : { '_id.actionId': { $lt: new ObjectId(before) } }),
          },
          upTo(limit),
        )
        .hint('unread')
        .sort({ '_id.actionId': -1 })
        .project<{ _id: ItemMarkDocument['_id'] }>({ _id: 1 })
        .toArray();
      return documents.map(({ _id }) => _id.actionId.toHexString());
    },

    /** Number of the reader's items in a state, counted up to a limit. Index `state`. */
    async count(userId: UserId, state: ItemState, limit: number): Promise<number> {
      return collection.countDocuments({ '_id.userId': userId, state }, { limit });
    },

    /** Marks of these readers on these items. Index `_id_`. */
    async findPairs(pairs: readonly ReaderAction[]): Promise<(ItemMark & ReaderAction)[]> {
      const documents = await inOneBatch(collection.find(ofReaderActions(pairs)).hint('_id_'), pairs.length);
      return documents.map(toMark);
    },

    /** Items in a state, newest first. Index `state`. */
    async list(
      userId: UserId,
      state: ItemState,
      stretch: Stretch<ReaderListEntry>,
    ): Promise<ReaderListEntry[]> {
      const { conditions, order } = newest(stretch);
      const documents = await collection
        .find({ '_id.userId': userId, state, ...conditions }, upTo(stretch.limit))
        .sort(order)
        .toArray();
      return documents.map(({ _id, at }) => ({ actionId: _id.actionId.toHexString(), at: at ?? EARLIEST }));
    },
  };
}

/** Fallback; a state always has a time. */
const EARLIEST = new Date(0);
