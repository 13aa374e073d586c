import type { Document } from 'mongodb';
import type { RefId, UserId } from '../../domain/action.ts';
import { MAX_LISTS, type ReaderList } from '../../domain/viewer.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import { literal } from '../../storage/stages/revision.ts';
import { NO_STAMPS, type ReaderStamps } from '../../storage/stamps/reader-stamps.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly readerLists: ReturnType<typeof readerListsRepository>;
  }
}

/**
 * Lists of readers, stored in each reader's document; what is in them, in the follows. A follow that ends is in none: there is nothing else
 * to keep up to date.
 */
export function readerListsRepository(
  { feeds, follows, blocks }: Pick<Collections, 'feeds' | 'follows' | 'blocks'>,
  stamps: ReaderStamps = NO_STAMPS,
) {
  /** Follows of a reader among these refs that are not over, and attempts to follow who blocks them: both are the same to the reader. */
  const followed = (userId: UserId, refIds: readonly RefId[]) => ({
    follows: { followerId: userId, refId: { $in: [...refIds] }, active: true },
    attempts: { '_id.userId': userId, '_id.otherId': { $in: [...refIds] }, isFollowed: true as const },
  });

  return {
    /** `false`: the reader has too many. Two writes. */
    async create(userId: UserId, list: ReaderList): Promise<boolean> {
      const lists: Document = { $ifNull: ['$lists', []] };
      const longer = { $concatArrays: [lists, [literal(list)]] };
      const stored = await retryOnDuplicateKey(() =>
        feeds.findOneAndUpdate(
          { _id: userId },
          [{ $set: { lists: { $cond: [{ $lt: [{ $size: lists }, MAX_LISTS] }, longer, lists] } } }],
          { upsert: true, returnDocument: 'after', projection: { lists: 1 } },
        ),
      );
      await stamps.renew([userId]);
      return stored?.lists?.some(({ id }) => id === list.id) === true;
    },

    /** The list as it is now; `null`: there is none. Two writes. */
    async update(userId: UserId, id: string, changes: Partial<ReaderList>): Promise<ReaderList | null> {
      const set = Object.fromEntries(
        Object.entries(changes).map(([name, value]) => [`lists.$.${name}`, value]),
      );
      const stored = await feeds.findOneAndUpdate(
        { _id: userId, 'lists.id': id },
        { $set: set },
        { returnDocument: 'after', projection: { lists: 1 } },
      );
      await stamps.renew([userId]);
      return stored?.lists?.find((list) => list.id === id) ?? null;
    },

    /** What is in it first: a call that was cut off is completed by the next. */
    async remove(userId: UserId, id: string): Promise<void> {
      await follows.updateMany({ followerId: userId, lists: id }, { $pull: { lists: id } });
      await blocks.updateMany({ '_id.userId': userId, lists: id }, { $pull: { lists: id } });
      await feeds.updateOne({ _id: userId }, { $pull: { lists: { id } } });
      await stamps.renew([userId]);
    },

    /** Those of the refs that the reader follows, and whether they are in a list. Indexes `pair`, `_id`. */
    async followed(
      userId: UserId,
      id: string,
      refIds: readonly RefId[],
    ): Promise<ReadonlyMap<RefId, boolean>> {
      const filters = followed(userId, refIds);
      const [own, attempts] = await Promise.all([
        follows.find(filters.follows, { projection: { _id: 0, refId: 1, lists: 1 } }).toArray(),
        blocks.find(filters.attempts, { projection: { _id: 1, lists: 1 } }).toArray(),
      ]);
      const isIn = ({ lists = [] }: { readonly lists?: readonly string[] }): boolean => lists.includes(id);
      return new Map([
        ...own.map((follow) => [follow.refId, isIn(follow)] as const),
        ...attempts.map((attempt) => [attempt._id.otherId, isIn(attempt)] as const),
      ]);
    },

    /** Puts what the reader follows of the refs into a list. Indexes `pair`, `_id`. */
    async add(userId: UserId, id: string, refIds: readonly RefId[]): Promise<void> {
      const filters = followed(userId, refIds);
      await follows.updateMany(filters.follows, { $addToSet: { lists: id } });
      await blocks.updateMany(filters.attempts, { $addToSet: { lists: id } });
    },

    async take(userId: UserId, id: string, refIds: readonly RefId[]): Promise<void> {
      const filters = followed(userId, refIds);
      await follows.updateMany({ ...filters.follows, lists: id }, { $pull: { lists: id } });
      await blocks.updateMany({ ...filters.attempts, lists: id }, { $pull: { lists: id } });
    },

    /** Number of entries, counted up to a limit. Index `in_list`. */
    async count(userId: UserId, id: string, limit: number): Promise<number> {
      return follows.countDocuments({ followerId: userId, lists: id, active: true }, { limit });
    },
  };
}
