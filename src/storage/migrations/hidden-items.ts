import { ObjectId } from 'mongodb';
import type { Collections } from '../database/mongo.ts';
import type { Migration, MigrationBatch } from './migration.ts';

/** Prefix of the second half: readers whose hidden items have all been migrated. */
const READERS = 'reader:';

/**
 * Moves hidden items to the collection of marks. Concurrent readers look at the old collection first and then at the new
 * one, and an item is added to the new one before it leaves the old: so nobody misses one.
 */
export const hiddenItemsMigration: Migration = {
  version: 2,
  name: 'hidden items become marks of items',
  batch: (collections, after, limit) =>
    after?.startsWith(READERS) === true
      ? forget(collections, after.slice(READERS.length), limit)
      : bringOver(collections, after, limit),
};

async function bringOver(
  { feeds, hiddenItems, itemMarks }: Collections,
  after: string | null,
  limit: number,
): Promise<MigrationBatch> {
  const found = await hiddenItems
    .find(after === null ? {} : { _id: { $gt: new ObjectId(after) } })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
  if (found.length === 0) return { after: READERS, looked: 0 };
  const userIds = [...new Set(found.map(({ userId }) => userId))];
  await feeds.updateMany({ _id: { $in: userIds } }, { $set: { hasMarks: true } });
  await itemMarks.bulkWrite(
    found.map(({ _id, userId, actionId }) => ({
      updateOne: {
        // A newer mark of the reader takes precedence.
        filter: { _id: { userId, actionId } },
        update: [
          {
            $set: {
              at: { $ifNull: ['$at', _id.getTimestamp()] },
              state: { $ifNull: ['$state', 'HIDDEN'] },
            },
          },
        ],
        upsert: true,
      },
    })),
    { ordered: false },
  );
  const ids = found.map(({ _id }) => _id);
  const left = new Set(
    (await hiddenItems.find({ _id: { $in: ids } }).toArray()).map(({ _id }) => _id.toHexString()),
  );
  // Shown again between the two reads.
  for (const { _id, userId, actionId } of found)
    if (!left.has(_id.toHexString()))
      await itemMarks.updateOne(
        { _id: { userId, actionId }, state: 'HIDDEN', at: _id.getTimestamp() },
        { $unset: { state: 1, at: 1 } },
      );
  await hiddenItems.deleteMany({ _id: { $in: ids } });
  return { after: ids.at(-1)?.toHexString() ?? READERS, looked: found.length };
}

async function forget({ feeds }: Collections, after: string, limit: number): Promise<MigrationBatch> {
  const found = await feeds
    .find({ _id: { $gt: after } })
    .sort({ _id: 1 })
    .project<{ _id: string }>({ _id: 1 })
    .limit(limit)
    .toArray();
  const last = found.at(-1)?._id;
  if (last === undefined) return { after: null, looked: 0 };
  await feeds.updateMany(
    { _id: { $gt: after, $lte: last }, hasHiddenItems: true },
    { $unset: { hasHiddenItems: 1 } },
  );
  return { after: found.length < limit ? null : READERS + last, looked: found.length };
}
