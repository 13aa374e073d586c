import { ObjectId, type AnyBulkWriteOperation, type Collection, type Document } from 'mongodb';
import type { FeedEntryDocument } from '../../../../src/storage/documents/feed-documents.ts';
import type { HoldersQuery } from '../../../../src/feed/feed-store.ts';
import type { ActionId, UserId } from '../../../../src/domain/action.ts';
import type { FeedEntry, FeedPosition } from '../../../../src/domain/newsfeed-item.ts';
import { duplicatePositions } from '../../../../src/storage/database/errors.ts';
import { nameOfEntry, separated, entriesAbove } from '../shared.ts';
import { toEntry, toEntryDocument } from '../../../../src/feed/models/stored-entries.ts';
import { inOneBatch } from '../../../../src/storage/database/batches.ts';

/** A part of one reader's feed: the entries of a time span, or a fixed number of entries. */
interface FeedBucketDocument {
  _id: ObjectId;
  userId: string;
  /** Time buckets: number of the span. Size buckets: 0. */
  span: number;
  entries: FeedEntryDocument[];
  /** Number of entries ever added. */
  size: number;
  /** Upper and lower bound of the entries' relevancies. */
  top: Date;
  bottom: Date;
  /** Present while entries may be added; at most one bucket of a span is open. */
  isOpen?: true;
  /** Present when closed and its last entry has been removed. */
  isEmpty?: true;
}

export interface BucketPlace extends BucketEntry {
  readonly bucketId: string;
  readonly span: number;
  readonly isOpen: boolean;
}

interface BucketWrites {
  readonly put: readonly Put[];
  /** Entries to raise to these relevancies and reasons in their current buckets. */
  readonly raise: readonly BucketPlace[];
}

interface BucketQuery {
  readonly userId: UserId;
  /** Skips buckets without entries at or below this relevancy, and those without entries at or above `since`. */
  readonly upper?: Date;
  readonly since?: Date;
  readonly limit: number;
}

/** Documents of several entries each, closed at `capacity`. Unique key of the open one: userId, span. */
export function feedBucketsRepository(collection: Collection<FeedBucketDocument>, capacity: number) {
  /** Deletes empty closed buckets. Nothing is ever added to a closed one. Index `empty`. */
  async function sweep(userIds: readonly UserId[]): Promise<void> {
    await collection.deleteMany({ userId: { $in: [...userIds] }, isEmpty: true });
  }

  return {
    capacity,

    /** Where these readers have these actions; more than one place while an entry is being moved. Index `holders`. */
    async places(userIds: readonly UserId[], actionIds: readonly ActionId[]): Promise<BucketPlace[]> {
      const ids = actionIds.map((id) => new ObjectId(id));
      const documents = await collection
        .aggregate<Pick<FeedBucketDocument, '_id' | 'userId' | 'span' | 'entries' | 'isOpen'>>([
          { $match: { 'entries.actionId': { $in: ids }, userId: { $in: [...userIds] } } },
          {
            $project: {
              userId: 1,
              span: 1,
              isOpen: 1,
              entries: {
                $filter: { input: '$entries', as: 'entry', cond: { $in: ['$$entry.actionId', ids] } },
              },
            },
          },
        ])
        .toArray();
      return documents.flatMap(({ _id, userId, span, entries, isOpen }) =>
        entries.map((entry) => ({
          ...toEntry(entry),
          userId,
          span,
          bucketId: _id.toHexString(),
          isOpen: isOpen === true,
        })),
      );
    },

    /**
     * One unordered write; entries for many readers take three commands. Returns entries that could not be added because a
     * bucket seems to have them already, or because another writer created the bucket at the same moment.
     */
    async write({ put: all, raise }: BucketWrites): Promise<BucketEntry[]> {
      const { alike, others: put } = separated(
        all,
        ({ entry, span }) => `${String(span)} ${nameOfEntry(entry)}`,
      );
      const lost: BucketEntry[] = [];
      for (const group of alike) lost.push(...(await putAlike(collection, capacity, group)));
      const operations: AnyBulkWriteOperation<FeedBucketDocument>[] = [
        ...put.map(({ entry, span }) => ({
          updateOne: {
            filter: {
              userId: entry.userId,
              span,
              isOpen: true as const,
              // Not $ne: the local engine would scan the whole index of actions for it.
              $nor: [{ 'entries.actionId': new ObjectId(entry.actionId) }],
            },
            update: putStages(entry, capacity),
            upsert: true,
          },
        })),
        ...raise.map((place) => ({
          updateOne: {
            filter: {
              ...{ _id: new ObjectId(place.bucketId), userId: place.userId },
              'entries.actionId': new ObjectId(place.actionId),
            },
            update: raiseStages(place),
          },
        })),
      ];
      if (operations.length === 0) return lost;
      try {
        await collection.bulkWrite(operations, { ordered: false });
        return lost;
      } catch (error) {
        return [...lost, ...duplicatePositions(error).flatMap((position) => put[position]?.entry ?? [])];
      }
    },

    /** Inserts buckets that are full and closed. */
    async insertFull(
      buckets: readonly { readonly span: number; readonly entries: readonly BucketEntry[] }[],
    ): Promise<void> {
      if (buckets.length === 0) return;
      await collection.insertMany(
        buckets.flatMap(({ span, entries }) => {
          const [first] = entries;
          if (first === undefined) return [];
          const times = entries.map(({ relevancy }) => relevancy.getTime());
          return {
            _id: new ObjectId(),
            userId: first.userId,
            span,
            entries: entries.map(toEntryDocument),
            size: entries.length,
            top: new Date(Math.max(...times)),
            bottom: new Date(Math.min(...times)),
          };
        }),
      );
    },

    /** Removes copies, unless they were raised since they were found. */
    async takeOut(places: readonly BucketPlace[]): Promise<void> {
      if (places.length === 0) return;
      await collection.bulkWrite(
        places.map(({ bucketId, userId, actionId, relevancy }) => ({
          updateOne: {
            filter: { _id: new ObjectId(bucketId), userId },
            update: keepStages({
              $or: [
                { $ne: ['$$entry.actionId', new ObjectId(actionId)] },
                { $gt: ['$$entry.relevancy', relevancy] },
              ],
            }),
          },
        })),
        { ordered: false },
      );
      await sweep(places.map(({ userId }) => userId));
    },

    /** Buckets by their top relevancy, best first. One statement, so that a moving entry is not missed. Index `page`. */
    async read({ userId, upper, since, limit }: BucketQuery): Promise<{ top: Date; entries: FeedEntry[] }[]> {
      const documents = await inOneBatch(
        collection
          .find({
            userId,
            ...(since === undefined ? {} : { top: { $gte: since } }),
            ...(upper === undefined ? {} : { bottom: { $lte: upper } }),
          })
          .sort({ top: -1 })
          .project<Pick<FeedBucketDocument, 'top' | 'entries'>>({ _id: 0, top: 1, entries: 1 })
          .limit(limit),
        limit,
      );
      return documents.map(({ top, entries }) => ({ top, entries: entries.map(toEntry) }));
    },

    /** The next readers who have the action, ordered by id. Index `holders`. */
    async someHolders(actionId: ActionId, { after = null, limit }: HoldersQuery): Promise<UserId[]> {
      // A reader who temporarily has two copies counts once, which must not make the page look like the last one.
      for (let wanted = limit + 1; ; wanted *= 2) {
        const documents = await inOneBatch(
          collection
            .find({
              'entries.actionId': new ObjectId(actionId),
              ...(after === null ? {} : { userId: { $gt: after } }),
            })
            .sort({ userId: 1 })
            .project<{ userId: UserId }>({ _id: 0, userId: 1 })
            .limit(wanted),
          wanted,
        );
        const userIds = [...new Set(documents.map(({ userId }) => userId))];
        if (documents.length < wanted || userIds.length >= limit) return userIds.slice(0, limit);
      }
    },

    async remove(userIds: readonly UserId[], actionIds: readonly ActionId[]): Promise<void> {
      const ids = actionIds.map((id) => new ObjectId(id));
      await collection.updateMany(
        { 'entries.actionId': { $in: ids }, userId: { $in: [...userIds] } },
        keepStages({ $not: [{ $in: ['$$entry.actionId', ids] }] }),
      );
      await sweep(userIds);
    },

    async trim(userId: UserId, from: FeedPosition): Promise<void> {
      await collection.updateMany({ userId, bottom: { $lte: from.relevancy } }, [
        { $set: { entries: entriesAbove(from) } },
        MARK_EMPTY,
      ]);
      await sweep([userId]);
    },

    async drop(userId: UserId): Promise<void> {
      await collection.deleteMany({ userId });
    },
  };
}

export type FeedBucketsRepository = ReturnType<typeof feedBucketsRepository>;

const MARK_EMPTY: Document = {
  $set: {
    isEmpty: {
      $cond: [{ $and: [{ $eq: [{ $size: '$entries' }, 0] }, { $ne: ['$isOpen', true] }] }, true, '$$REMOVE'],
    },
  },
};

/** @param condition expression on an entry, as `$$entry`, for entries to keep. */
function keepStages(condition: object): Document[] {
  return [
    { $set: { entries: { $filter: { input: '$entries', as: 'entry', cond: condition } } } },
    MARK_EMPTY,
  ];
}

function raiseStages({ actionId, relevancy, reasons }: BucketPlace): Document[] {
  return [
    {
      $set: {
        top: { $max: ['$top', relevancy] },
        entries: {
          $map: {
            input: '$entries',
            as: 'entry',
            in: {
              $cond: [
                { $eq: ['$$entry.actionId', new ObjectId(actionId)] },
                {
                  actionId: '$$entry.actionId',
                  relevancy: { $max: ['$$entry.relevancy', relevancy] },
                  reasons: {
                    $concatArrays: ['$$entry.reasons', { $setDifference: [[...reasons], '$$entry.reasons'] }],
                  },
                },
                '$$entry',
              ],
            },
          },
        },
      },
    },
  ];
}

export interface BucketEntry extends FeedEntry {
  readonly userId: UserId;
}

/** An entry for a span's open bucket, which is created if missing and closed when full. */
interface Put {
  readonly entry: BucketEntry;
  readonly span: number;
}

/**
 * Adds one entry to the buckets of many readers: one query for readers with an open bucket, one statement for them, and one
 * that creates buckets for the others. The caller checks for concurrent writes. Returns the same as `write`.
 */
async function putAlike(
  collection: Collection<FeedBucketDocument>,
  capacity: number,
  group: readonly Put[],
): Promise<BucketEntry[]> {
  const [first] = group;
  if (first === undefined) return [];
  const { entry, span } = first;
  const actionId = new ObjectId(entry.actionId);
  const open = await collection
    .aggregate<{ readonly userId: UserId; readonly holds: boolean }>([
      { $match: { userId: { $in: group.map((put) => put.entry.userId) }, span, isOpen: true } },
      { $project: { _id: 0, userId: 1, holds: { $in: [actionId, '$entries.actionId'] } } },
    ])
    .toArray();
  const holds = new Map(open.map((bucket) => [bucket.userId, bucket.holds]));
  const waiting = open.flatMap(({ userId, holds: isHeld }) => (isHeld ? [] : [userId]));
  const without = group.filter((put) => !holds.has(put.entry.userId));
  if (waiting.length > 0)
    await collection.updateMany(
      {
        ...{ userId: { $in: waiting }, span, isOpen: true },
        $nor: [{ 'entries.actionId': actionId }],
      },
      putStages(entry, capacity),
    );
  const lost = group.flatMap((put) => (holds.get(put.entry.userId) === true ? [put.entry] : []));
  if (without.length === 0) return lost;
  try {
    await collection.insertMany(
      without.map((put) => newBucket(put, capacity)),
      { ordered: false },
    );
    return lost;
  } catch (error) {
    return [...lost, ...duplicatePositions(error).flatMap((position) => without[position]?.entry ?? [])];
  }
}

/** The same document that the stages below create. */
function newBucket({ entry, span }: Put, capacity: number): FeedBucketDocument {
  return {
    ...{ _id: new ObjectId(), userId: entry.userId, span },
    ...{ entries: [toEntryDocument(entry)], size: 1, top: entry.relevancy, bottom: entry.relevancy },
    ...(capacity > 1 ? { isOpen: true as const } : {}),
  };
}

function putStages(entry: Omit<BucketEntry, 'userId'>, capacity: number): Document[] {
  const { relevancy } = entry;
  return [
    {
      $set: {
        entries: { $concatArrays: [{ $ifNull: ['$entries', []] }, [toEntryDocument(entry)]] },
        size: { $add: [{ $ifNull: ['$size', 0] }, 1] },
        top: { $max: ['$top', relevancy] },
        bottom: { $min: ['$bottom', relevancy] },
      },
    },
    { $set: { isOpen: { $cond: [{ $lt: ['$size', capacity] }, true, '$$REMOVE'] } } },
  ];
}
