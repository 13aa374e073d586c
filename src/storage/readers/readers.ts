import type { UserId } from '../../domain/action.ts';
import type { Collections } from '../database/mongo.ts';

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
