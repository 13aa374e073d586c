import { ObjectId } from 'mongodb';
import type { Action, UserId } from '../domain/action.ts';
import type { Collections } from './mongo.ts';

/** What readers want to see nothing of, for many of them at once. */
export function readerChoicesRepository({ feeds, itemMarks }: Pick<Collections, 'feeds' | 'itemMarks'>) {
  return {
    /**
     * Those of the readers who mute the actor or have hidden or archived the action. One round trip, two where any has
     * said something of single items. Unique keys: `_id`.
     */
    async refusing(
      { id, actorId }: Pick<Action, 'id' | 'actorId'>,
      userIds: readonly UserId[],
    ): Promise<Set<UserId>> {
      const choices = await feeds
        .find({ _id: { $in: [...userIds] }, $or: [{ muted: actorId }, { hasMarks: true }] })
        .project<{ _id: UserId; muted?: UserId[] }>({ muted: 1 })
        .batchSize(userIds.length + 1)
        .toArray();
      const refusing = new Set(
        choices.filter(({ muted }) => muted?.includes(actorId) === true).map(({ _id }) => _id),
      );
      const others = choices.filter(({ _id }) => !refusing.has(_id));
      if (others.length === 0) return refusing;
      const actionId = new ObjectId(id);
      const marks = await itemMarks
        .find({
          _id: { $in: others.map(({ _id }) => ({ userId: _id, actionId })) },
          state: { $exists: true },
        })
        .project<{ _id: { userId: UserId } }>({ '_id.userId': 1 })
        .batchSize(others.length + 1)
        .toArray();
      for (const { _id } of marks) refusing.add(_id.userId);
      return refusing;
    },
  };
}

export type ReaderChoicesRepository = ReturnType<typeof readerChoicesRepository>;
