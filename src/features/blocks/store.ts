import type { Collection } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import { type Blocks, NO_BLOCKS } from '../../domain/block.ts';
import type { ErasureSubject } from '../../domain/erasure.ts';
import { inOneBatch, upTo } from '../../storage/database/batches.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import { type Declared, index, NOT_OF_ACTIONS } from '../../storage/documents/declaration.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly blocks: ReturnType<typeof blocksRepository>;
  }
}

/** One of two members between whom there is a block. Field order matters: the database compares it as a whole. */
export interface BlockId {
  userId: string;
  otherId: string;
}

/** There is one for each of the two, so that all blocks of a reader, either way, are found by the reader. */
export interface BlockDocument {
  _id: BlockId;
  /** Since when this one blocks the other. Absent: only the other blocks this one. */
  own?: Date;
  /** The other blocks this one. */
  isBlocked?: true;
}

declare module '../../storage/documents/declaration.ts' {
  interface Documents {
    readonly blocks: BlockDocument;
  }
}

export const BLOCKS: Declared<'blocks'> = {
  name: 'blocks',
  holds: 'that a member blocks another, or is blocked; one document for each of the two',
  ids: { member: ['_id.userId', '_id.otherId'] },
  indexes: [
    index('newest', { '_id.userId': 1, own: -1, '_id.otherId': 1 }, 'whom a member blocks, the newest first'),
    index('other', { '_id.otherId': 1 }, 'erasure: who blocks somebody'),
  ],
  shard: { key: { '_id.userId': 1 }, serves: 'all blocks of a reader, either way' },
  erase: ['BLOCKS'],
  export: [
    {
      section: 'blocks',
      of: '_id.userId',
      // Nobody learns who blocks them.
      where: { own: { $exists: true } },
      entry: ({ _id, own }) => ({ memberId: _id.otherId, since: own }),
    },
  ],
  action: NOT_OF_ACTIONS,
};

/** @param found all of a reader. */
export function toBlocks(found: readonly BlockDocument[]): Blocks {
  if (found.length === 0) return NO_BLOCKS;
  return {
    either: new Set(found.map(({ _id }) => _id.otherId)),
    own: new Set(found.flatMap(({ _id, own }) => (own === undefined ? [] : [_id.otherId]))),
  };
}

/** A place in the list of whom a member blocks. */
export interface BlockPosition {
  readonly memberId: UserId;
  readonly since: Date;
}

/** Blocks of members. Unique key: `_id`. */
export function blocksRepository(collection: Collection<BlockDocument>) {
  const sides = (userId: UserId, otherId: UserId) =>
    [
      { userId, otherId },
      { userId: otherId, otherId: userId },
    ] as const;

  return {
    /** Blocks a member; repeated, it keeps the first time. One write. */
    async add(userId: UserId, otherId: UserId, at: Date): Promise<void> {
      const [own, others] = sides(userId, otherId);
      await retryOnDuplicateKey(() =>
        collection.bulkWrite(
          [
            {
              updateOne: {
                filter: { _id: own },
                update: [{ $set: { own: { $ifNull: ['$own', at] } } }],
                upsert: true,
              },
            },
            {
              updateOne: {
                filter: { _id: others },
                update: { $set: { isBlocked: true } },
                upsert: true,
              },
            },
          ],
          { ordered: false },
        ),
      );
    },

    /** Ends it; what the other blocks stays. Two writes. */
    async remove(userId: UserId, otherId: UserId): Promise<void> {
      const [own, others] = sides(userId, otherId);
      await collection.bulkWrite(
        [
          { updateOne: { filter: { _id: own }, update: { $unset: { own: 1 } } } },
          {
            updateOne: {
              filter: { _id: others },
              update: { $unset: { isBlocked: 1 } },
            },
          },
        ],
        { ordered: false },
      );
      await collection.deleteMany({
        _id: { $in: [own, others] },
        '_id.userId': { $in: [userId, otherId] },
        ...{ own: { $exists: false }, isBlocked: { $exists: false } },
      });
    },

    /** Whom a member blocks, counted up to a limit. Index `newest`. */
    async count(userId: UserId, limit: number): Promise<number> {
      return collection.countDocuments({ '_id.userId': userId, own: { $exists: true } }, { limit });
    },

    /** All blocks of a reader. One round trip. Index `newest`. */
    async of(userId: UserId): Promise<Blocks> {
      const found = await collection
        .find({ '_id.userId': userId })
        .project<BlockDocument>({ own: 1 })
        .toArray();
      return toBlocks(found);
    },

    /** Those of the pairs between which there is a block, either way. One round trip. Unique key: `_id`. */
    async findPairs(pairs: readonly BlockId[]): Promise<BlockId[]> {
      const found = await inOneBatch(
        collection
          .find({ _id: { $in: [...pairs] }, '_id.userId': { $in: pairs.map(({ userId }) => userId) } })
          .project<{ _id: BlockId }>({ _id: 1 }),
        pairs.length,
      );
      return found.map(({ _id }) => _id);
    },

    /** Those of the members with whom one of the others has a block, by that other. One round trip. Index `newest`. */
    async among(
      userIds: readonly UserId[],
      otherIds: readonly UserId[],
    ): Promise<ReadonlyMap<UserId, ReadonlySet<UserId>>> {
      const found = await collection
        .find({ '_id.userId': { $in: [...userIds] }, '_id.otherId': { $in: [...otherIds] } })
        .project<{ _id: BlockId }>({ _id: 1 })
        .toArray();
      const blocked = new Map<UserId, Set<UserId>>();
      for (const { _id } of found)
        blocked.set(_id.otherId, (blocked.get(_id.otherId) ?? new Set()).add(_id.userId));
      return blocked;
    },

    /** Whom the member blocks, the newest first, after an optional position. Index `newest`. */
    async list(userId: UserId, after: BlockPosition | null, limit: number): Promise<BlockPosition[]> {
      const documents = await collection
        .find(
          {
            '_id.userId': userId,
            own: { $exists: true },
            ...(after === null
              ? {}
              : {
                  own: { $lte: after.since },
                  $or: [{ own: { $lt: after.since } }, { '_id.otherId': { $gt: after.memberId } }],
                }),
          },
          upTo(limit),
        )
        .sort({ own: -1, '_id.otherId': 1 })
        .toArray();
      return documents.flatMap(({ _id, own }) =>
        own === undefined ? [] : [{ memberId: _id.otherId, since: own }],
      );
    },

    /**
     * A batch of the erased member's blocks: their own end, and who blocks them then blocks the pseudonym, or would be shown
     * what is left of them. Indexes `newest`, `other`.
     */
    async anonymise({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await collection.find({ '_id.otherId': memberId }).limit(limit).toArray();
      const kept = found.flatMap(({ _id: { userId }, own }) =>
        own === undefined ? [] : [{ _id: { userId, otherId: pseudonym }, own }],
      );
      if (kept.length > 0)
        await retryOnDuplicateKey(() =>
          collection.bulkWrite(
            kept.map(({ _id, own }) => ({
              updateOne: {
                filter: { _id },
                update: { $set: { own } },
                upsert: true,
              },
            })),
            { ordered: false },
          ),
        );
      if (found.length > 0)
        await collection.deleteMany({
          _id: { $in: found.map(({ _id }) => _id) },
          '_id.userId': { $in: found.map(({ _id }) => _id.userId) },
        });
      const { deletedCount } = await collection.deleteMany({ '_id.userId': memberId });
      return found.length + deletedCount;
    },
  };
}
