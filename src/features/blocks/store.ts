import { Confirmed } from '../../storage/confirmed.ts';
import {
  type BlockId,
  type BlockBetween,
  type BlockDocument,
  FEW_BLOCKS,
  toBlockBetween,
  toBlocks,
} from '../../storage/documents/block-document.ts';
import type { Collection } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import type { Blocks } from '../../domain/block.ts';
import type { Follow } from '../../domain/viewer.ts';
import { exportedFollow, type FollowPair } from '../../storage/documents/follow-document.ts';
import type { ErasureSubject } from '../../domain/erasure.ts';
import type { Repositories } from '../../storage/repositories.ts';
import { inOneBatch, upTo } from '../../storage/database/batches.ts';
import { mayBeOfOne, retryOnDuplicateKey } from '../../storage/database/errors.ts';
import { gathered } from '../../lib/gathered.ts';
import { inSlices } from '../../lib/turn.ts';
import { type Declared, index, NOT_OF_ACTIONS } from '../../storage/documents/declaration.ts';
import { beyond, type Stretch, turned } from '../../storage/documents/keyset.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly blocks: ReturnType<typeof blocksRepository>;
  }
}

export const BLOCKS: Declared<'blocks'> = {
  name: 'blocks',
  holds: 'that a member blocks another, or is blocked; one document for each of the two',
  ids: { member: ['_id.userId', '_id.otherId'] },
  indexes: [
    index('newest', { '_id.userId': 1, own: -1, '_id.otherId': 1 }, 'whom a member blocks, the newest first'),
    index(
      'followed',
      { '_id.userId': 1, '_id.otherId': 1 },
      'whom a member follows who blocks them, in a stable order',
      {
        partialFilterExpression: { isFollowed: true },
      },
    ),
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
    {
      // As if it were a follow: nobody learns who blocks them.
      section: 'follows',
      of: '_id.userId',
      where: { 'spans.0': { $exists: true } },
      entry: ({ _id, spans = [], isFollowed, lists }) =>
        exportedFollow({
          ...{ refId: _id.otherId, active: isFollowed === true, spans },
          ...(lists === undefined ? {} : { lists }),
        }),
    },
  ],
  action: NOT_OF_ACTIONS,
};

/** A place in the list of whom a member blocks. */
export interface BlockPosition {
  readonly memberId: UserId;
  readonly since: Date;
}

/** The members whom a member blocks. */
export type OwnBlock = BlockPosition & Pick<BlockBetween, 'isUnknown' | 'followed'>;

const PAIRS_AT_ONCE = 1_000;

/** Members of whom a process knows whether there is a block, of all its readers together. */
const MOST_KNOWN = 100_000;
/** And of one reader, so that few readers do not take the place of all others. */
const MOST_OF_ONE = 2_000;

const NEWEST_FIRST = { own: -1, '_id.otherId': 1 } as const;

/** Blocks of members. Unique key: `_id`. */
export function blocksRepository(collection: Collection<BlockDocument>) {
  const sides = (userId: UserId, otherId: UserId) =>
    [
      { userId, otherId },
      { userId: otherId, otherId: userId },
    ] as const;

  /** The pairs with a block between them, in either direction. One round trip for each thousand. Unique key: `_id`. */
  async function findPairs(pairs: readonly BlockId[]): Promise<BlockBetween[]> {
    const found = await inSlices(pairs, PAIRS_AT_ONCE, (some) =>
      inOneBatch(
        collection.find({
          _id: { $in: some.map(({ userId, otherId }) => ({ userId, otherId })) },
          '_id.userId': { $in: [...new Set(some.map(({ userId }) => userId))] },
        }),
        some.length,
      ),
    );
    return found.flat().map(toBlockBetween);
  }

  const findAll = gathered((asked: readonly (readonly BlockId[])[]) => findPairs(asked.flat()), {
    most: PAIRS_AT_ONCE,
    sizeOf: ({ length }) => length,
    mayBeOfOne,
  });

  /** As this process has asked about them, by the reader and the revision of their blocks. */
  const known = new Confirmed<Blocks, number>(MOST_KNOWN, ({ asked }) => asked + 1);
  /** Blocks that are known already are kept again, since they know more than when they were kept. */
  const kept = (userId: UserId, blocks: Blocks): Blocks => {
    if (blocks.rev !== null) known.keep(userId, blocks.rev, blocks);
    return blocks;
  };

  return {
    /** Blocks a member; repeated, it keeps the first time. One write. @returns whether anything has changed */
    async add(userId: UserId, otherId: UserId, at: Date): Promise<boolean> {
      const [own, others] = sides(userId, otherId);
      const { modifiedCount, upsertedCount } = await retryOnDuplicateKey(() =>
        collection.bulkWrite(
          [
            {
              updateOne: {
                filter: { _id: own },
                update: { $min: { own: at } },
                upsert: true,
              },
            },
            {
              updateOne: {
                filter: { _id: others },
                update: { $min: { other: at } },
                upsert: true,
              },
            },
          ],
          { ordered: false },
        ),
      );
      return modifiedCount + upsertedCount > 0;
    },

    /** Ends it; what the other blocks stays. Two writes. @returns whether anything has changed */
    async remove(userId: UserId, otherId: UserId): Promise<boolean> {
      const [own, others] = sides(userId, otherId);
      const { modifiedCount } = await collection.bulkWrite(
        [
          { updateOne: { filter: { _id: own, own: { $exists: true } }, update: { $unset: { own: 1 } } } },
          {
            updateOne: {
              filter: { _id: others, other: { $exists: true } },
              update: { $unset: { other: 1, spans: 1, isFollowed: 1 } },
            },
          },
        ],
        { ordered: false },
      );
      // Also of a call that was cut off before.
      const { deletedCount } = await collection.deleteMany({
        _id: { $in: [own, others] },
        '_id.userId': { $in: [userId, otherId] },
        ...{ own: { $exists: false }, other: { $exists: false } },
      });
      return modifiedCount + deletedCount > 0;
    },

    /**
     * Records that a member follows another who blocks them, or stops. One write. Of two calls at the same time the last one holds, as if
     * the other had not been: only the member could notice, by the times of the follow. What is left of a block whose end was cut off
     * counts as one, as everywhere. @returns `false`: the other does not block them
     */
    async setFollowed(
      { followerId, refId }: FollowPair,
      { active, spans }: Omit<Follow, 'refId'>,
    ): Promise<boolean> {
      const stored = spans.map(({ since, until, types }) => ({
        since,
        ...(until === undefined ? {} : { until }),
        ...(types === undefined ? {} : { types: [...types] }),
      }));
      const { matchedCount } = await collection.updateOne(
        {
          _id: { userId: followerId, otherId: refId },
          '_id.userId': followerId,
          $or: [{ other: { $exists: true } }, { own: { $exists: false } }],
        },
        active
          ? { $set: { spans: stored, isFollowed: true } }
          : { $set: { spans: stored }, $unset: { isFollowed: 1, lists: 1 } },
      );
      return matchedCount > 0;
    },

    /** Number of members whom a member blocks, counted up to a limit. Index `newest`. */
    async count(userId: UserId, limit: number): Promise<number> {
      return collection.countDocuments({ '_id.userId': userId, own: { $exists: true } }, { limit });
    },

    /**
     * The blocks of a reader, as far as they are few or this process has asked about them since they changed. One round trip, or none.
     * Index `newest`.
     * @param rev of the reader's blocks, read before
     */
    async of(userId: UserId, rev: number | null): Promise<Blocks> {
      const before = rev === null ? null : known.find(userId, rev);
      if (before !== null && before.asked <= MOST_OF_ONE) return kept(userId, before);
      const found = await collection
        .find({ '_id.userId': userId }, upTo(FEW_BLOCKS + 1))
        .project<Pick<BlockDocument, '_id'>>({ _id: 1 })
        .toArray();
      return kept(userId, toBlocks(found, { isWhole: found.length <= FEW_BLOCKS, rev }));
    },

    findPairs,

    /** The same. Calls that are made while one is under way share the next command; each gets what all of them find. */
    findAmong: (pairs: readonly BlockId[]): Promise<readonly BlockBetween[]> => findAll(pairs),

    /** The members whom the member blocks, the newest first. Index `newest`. */
    async list(userId: UserId, { from, isUp, limit }: Stretch<BlockPosition>): Promise<OwnBlock[]> {
      const order = turned(NEWEST_FIRST, isUp);
      const documents = await collection
        .find(
          {
            '_id.userId': userId,
            own: { $exists: true },
            ...beyond(order, from && { own: from.since, '_id.otherId': from.memberId }),
          },
          upTo(limit),
        )
        .sort(order)
        .toArray();
      return documents.flatMap((document) => {
        const { otherId: memberId, isUnknown, followed } = toBlockBetween(document);
        return document.own === undefined ? [] : [{ memberId, since: document.own, isUnknown, followed }];
      });
    },

    /**
     * A batch of the erased member's blocks: their own end, and who blocks them then blocks the pseudonym, or would be shown
     * what is left of them. Indexes `newest`, `other`.
     * @param feeds in which the blocks of these readers get another revision
     */
    async anonymise(
      { memberId, pseudonym }: ErasureSubject,
      limit: number,
      feeds: Pick<Repositories['feeds'], 'suspendBlocks' | 'renewBlocks'>,
    ): Promise<number> {
      const found = await collection.find({ '_id.otherId': memberId }).limit(limit).toArray();
      const userIds = found.map(({ _id }) => _id.userId);
      if (userIds.length > 0) await feeds.suspendBlocks(userIds);
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
      if (userIds.length > 0) await feeds.renewBlocks(userIds);
      const { deletedCount } = await collection.deleteMany({ '_id.userId': memberId });
      return found.length + deletedCount;
    },
  };
}
