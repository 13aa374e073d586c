import type { UserId } from '../../domain/action.ts';
import type { Collections } from '../database/mongo.ts';

/** Everybody who may have a feed: members, who follows something, who has ever read. */
export function readersRepository({
  members,
  follows,
  feeds,
}: Pick<Collections, 'members' | 'follows' | 'feeds'>) {
  return {
    /** Their ids in batches, in no order, some of them more than once. Reads those collections whole. */
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

export type ReadersRepository = ReturnType<typeof readersRepository>;
