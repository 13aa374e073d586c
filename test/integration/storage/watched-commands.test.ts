import { runInThisContext } from 'node:vm';
import { fileURLToPath } from 'node:url';
import type { Collection } from 'mongodb';
import { expect, it } from 'vitest';
import { openShared, borrowDatabase, returnDatabase } from '../../support/spare-databases.ts';
import { takeShardFaults } from '../../support/shard-faults.ts';

type Sends = (collection: Collection) => Promise<unknown>;

/** Sends something as if a source had, which is not there. */
function inSource(path: string, code: string): Sends {
  const filename = fileURLToPath(new URL(`../../../src/${path}`, import.meta.url));
  return runInThisContext(`(collection) => ${code}`, { filename }) as Sends;
}

/** What the watcher of commands finds wrong with it. */
async function faultsOf(name: string, path: string, code: string): Promise<readonly string[]> {
  const database = await openShared(await borrowDatabase());
  try {
    await inSource(path, code)(database.db.collection(name));
    return takeShardFaults();
  } finally {
    await returnDatabase(database);
  }
}

const HOLDER = 'feeds/models/items/repository.ts';

it.each([
  [
    'newsfeedItems',
    HOLDER,
    'collection.find({ relevancy: 1 }).toArray()',
    /^scattered: find newsfeedItems, from src.feeds/,
  ],
  [
    'newsfeedItems',
    'services/feed.ts',
    'collection.find({ actionId: 1 }).toArray()',
    /^scattered: find newsfeedItems/,
  ],
  [
    'newsfeedItems',
    HOLDER,
    'collection.updateMany({ actionId: 1 }, { $set: { x: 1 } })',
    /^scattered: update newsfeedItems/,
  ],
  [
    'newsfeedItems',
    HOLDER,
    'collection.updateOne({ actionId: 1 }, { $set: { x: 1 } })',
    /^forbidden: update newsfeedItems/,
  ],
  [
    'newsfeedItems',
    HOLDER,
    'collection.findOneAndUpdate({ _id: 1 }, { $set: { x: 1 } })',
    /^forbidden: findAndModify/,
  ],
  [
    'follows',
    'storage/follows/follows.ts',
    'collection.countDocuments({ active: true })',
    /^scattered: count follows/,
  ],
  ['nobodys', 'storage/follows/follows.ts', 'collection.findOne({})', /^Error: nobodys has no shard key/],
  [
    'itemMarks',
    'storage/readers/item-marks.ts',
    "collection.bulkWrite([{ deleteMany: { filter: { '_id.actionId': 1 } } }, { deleteMany: { filter: { x: 1 } } }])",
    /^scattered: delete itemMarks/,
  ],
])('a command on %s from %s would fail its test: %s', async (name, path, code, fault) => {
  const faults = await faultsOf(name, path, code);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(fault);
});

it.each([
  ['newsfeedItems', HOLDER, "collection.find({ userId: 'ann', relevancy: 1 }).toArray()"],
  ['newsfeedItems', HOLDER, 'collection.find({ actionId: 1 }).toArray()'],
  ['follows', 'storage/follows/follow-reads.ts', "collection.find({ $and: [{ refId: 'site' }] }).toArray()"],
  [
    'itemMarks',
    'storage/readers/item-marks.ts',
    "collection.bulkWrite([{ deleteMany: { filter: { '_id.actionId': 1 } } }])",
  ],
])('a command on %s from %s has its shard key or a reason: %s', async (name, path, code) => {
  expect(await faultsOf(name, path, code)).toEqual([]);
});

it('what a test itself asks for does not count', async () => {
  const database = await openShared(await borrowDatabase());
  await database.db.collection('newsfeedItems').find({ relevancy: 1 }).toArray();
  await returnDatabase(database);
  expect(takeShardFaults()).toEqual([]);
});
