import { ObjectId, type AnyBulkWriteOperation, type Collection, type Document } from 'mongodb';
import type { HoldersQuery } from '../../feed-store.ts';
import type { ActionId, UserId } from '../../../domain/action.ts';
import type { FeedEntry, FeedPosition } from '../../../domain/newsfeed-item.ts';
import { duplicatePositions } from '../../../storage/database/errors.ts';
import type { FeedBucketDocument } from './documents.ts';
import { putAlike, putStages, type BucketEntry, type Put } from './put-alike.ts';
import { nameOfEntry, separated } from '../shared/alike.ts';
import { entriesAbove, toEntry, toEntryDocument } from '../shared/entries.ts';
import { inOneBatch } from '../../../storage/database/in-one-batch.ts';

export interface BucketPlace extends BucketEntry {
  readonly bucketId: string;
  readonly span: number;
  readonly isOpen: boolean;
}

export interface BucketWrites {
  readonly put: readonly Put[];
  /** Entries to be raised to these relevancies and given these reasons where they lie. */
  readonly raise: readonly BucketPlace[];
}

export interface BucketQuery {
  readonly userId: UserId;
  /** Buckets that hold nothing at this relevancy or below are left out, and those with nothing at `since` or above. */
  readonly upper?: Date;
  readonly since?: Date;
  readonly limit: number;
}

/** Documents of several entries each; at `capacity` one is closed. Unique key: userId, span, of the one that is open. */
export function feedBucketsRepository(collection: Collection<FeedBucketDocument>, capacity: number) {
  /** What holds nothing any more goes. Nothing is ever put into it: it is not open. Index `empty`. */
  async function sweep(userIds: readonly UserId[]): Promise<void> {
    await collection.deleteMany({ userId: { $in: [...userIds] }, isEmpty: true });
  }

  return {
    capacity,

    /** Where these readers hold these actions; more than one place each while an entry is moved. Index `holders`. */
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
     * One unordered write; what goes to many readers by three commands. Returns those entries that could not be put since
     * the bucket seems to hold them already, or was made by somebody else in this moment.
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
              // Not $ne: the local engine would go through the index of the actions for it, all of it.
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

    /** Full buckets, which nothing is put into any more. */
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

    /** Takes copies out that are no better than they were found. */
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

    /** Buckets in order of their tops, best first: one statement, so that no entry is between two of them. Index `page`. */
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

    /** The next readers who hold the action, in order of id. Index `holders`. */
    async someHolders(actionId: ActionId, { after = null, limit }: HoldersQuery): Promise<UserId[]> {
      // Who holds it twice for the moment counts once, and must not make the answer look like the end.
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

/** @param condition of an entry, as `$$entry`, to stay. */
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
