import { ObjectId, type Collection, type Document } from 'mongodb';
import type { UserId } from '../../../../src/domain/action.ts';
import type { FeedEntry } from '../../../../src/domain/newsfeed-item.ts';
import { duplicatePositions } from '../../../../src/storage/database/errors.ts';
import type { FeedBucketDocument } from './documents.ts';
import { toEntryDocument } from '../../../../src/feeds/models/shared/entries.ts';

export interface BucketEntry extends FeedEntry {
  readonly userId: UserId;
}

/** An entry for a span's open bucket, which is created if missing and closed when full. */
export interface Put {
  readonly entry: BucketEntry;
  readonly span: number;
}

/**
 * Adds one entry to the buckets of many readers: one query for readers with an open bucket, one statement for them, and one
 * that creates buckets for the others. The caller checks for concurrent writes. Returns the same as `write`.
 */
export async function putAlike(
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

export function putStages(entry: Omit<BucketEntry, 'userId'>, capacity: number): Document[] {
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
