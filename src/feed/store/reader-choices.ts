import type { Filter } from 'mongodb';
import { isMutedAction, type MutableAction } from '../../descriptors/muted-action.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import type { FeedDocument } from '../../storage/documents/reader-documents.ts';
import { mutesOf } from '../../features/mutes/store.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import { ofReaderActions } from '../../storage/documents/reader-action-id.ts';
import { inOneBatch } from '../../storage/database/in-one-batch.ts';

/** Mutes and marks of many readers at once. */
export function readerChoicesRepository({ feeds, itemMarks }: Collections) {
  return {
    /**
     * Readers among these who mute the action, or have hidden, archived or snoozed it. One round trip, two if any of them
     * has marked single items. Unique keys: `_id`.
     */
    async refusing(
      action: { readonly id: ActionId } & MutableAction,
      userIds: readonly UserId[],
      now: Date,
    ): Promise<Set<UserId>> {
      const choices = await inOneBatch(
        feeds
          .find({ _id: { $in: [...userIds] }, $or: [...mayMute(action), { hasMarks: true }] })
          .project<{ _id: string; mutes?: FeedDocument['mutes'] }>({ mutes: 1 }),
        userIds.length,
      );
      const refusing = new Set(
        choices.filter((document) => isMutedAction(mutesOf(document), action)).map(({ _id }) => _id),
      );
      const others = choices.filter(({ _id }) => !refusing.has(_id));
      if (others.length === 0) return refusing;
      const marks = await inOneBatch(
        itemMarks
          .find({
            ...ofReaderActions(others.map(({ _id: userId }) => ({ userId, actionId: action.id }))),
            $or: [
              { state: { $in: ['HIDDEN', 'ARCHIVED'] } },
              { state: 'SNOOZED', until: { $gt: now }, isOver: { $exists: false } },
            ],
          })
          .hint('_id_')
          .project<{ _id: { userId: UserId } }>({ '_id.userId': 1 }),
        others.length,
      );
      for (const { _id } of marks) refusing.add(_id.userId);
      return refusing;
    },
  };
}

/** Selects readers with mutes that may match the action. Whether one matches, and is still active, is decided afterwards. */
function mayMute({ actorId, refIds, descriptor }: MutableAction): Filter<FeedDocument>[] {
  return [{ 'mutes.value': { $in: [actorId, ...refIds, descriptor.type] } }, { 'mutes.kind': 'PHRASE' }];
}

/** Everybody who may have a feed: members, followers, and users who have ever read. */
export function readersRepository({ members, follows, feeds }: Collections) {
  return {
    /** Whether the user is among them. One round trip, by keys. Index `pair` for follows. */
    async knows(userId: UserId): Promise<boolean> {
      const found = await Promise.all([
        members.countDocuments({ _id: userId }, { limit: 1 }),
        follows.countDocuments({ followerId: userId }, { limit: 1 }),
        feeds.countDocuments({ _id: userId }, { limit: 1 }),
      ]);
      return found.some((count) => count > 0);
    },

    /** Ids in unordered batches, possibly with duplicates. Reads these collections in full. */
    async *all(size: number): AsyncGenerator<readonly UserId[], void, undefined> {
      const cursors = [
        members.find().project<{ _id: string }>({ _id: 1 }).batchSize(size),
        follows.aggregate<{ _id: string }>([{ $group: { _id: '$followerId' } }]).batchSize(size),
        feeds.find().project<{ _id: string }>({ _id: 1 }).batchSize(size),
      ];
      for (const cursor of cursors) {
        try {
          while (await cursor.hasNext()) yield cursor.readBufferedDocuments().map(({ _id }) => _id);
        } finally {
          await cursor.close();
        }
      }
    },
  };
}
