import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';
import type { Collection } from 'mongodb';
import { expect, it } from 'vitest';
import { openShared, borrowDatabase, returnDatabase } from '../../support/spare-databases.ts';
import { allReasons } from '../../support/scattered.ts';
import { takeShardFaults } from '../../support/shard-faults.ts';
import { notedAside, unusedReasons } from '../../support/used-reasons.ts';

type Sends = (collection: Collection) => Promise<unknown>;

/** Sends something as if a source had, which is not there. */
function inSource(path: string, code: string): Sends {
  const filename = fileURLToPath(new URL(`../../../src/${path}`, import.meta.url));
  return runInThisContext(`(collection) => ${code}`, { filename }) as Sends;
}

/** What the watcher of commands finds wrong with it, and why all shards may be asked. */
async function judged(
  name: string,
  path: string,
  code: string,
): Promise<{ readonly faults: readonly string[]; readonly reasons: readonly string[] }> {
  const database = await openShared(await borrowDatabase());
  try {
    const reasons = await notedAside(() => inSource(path, code)(database.db.collection(name)));
    return { faults: takeShardFaults(), reasons };
  } finally {
    await returnDatabase(database);
  }
}

const HOLDER = 'feed/models/items.ts';

it.each([
  [
    'newsfeedItems',
    HOLDER,
    'collection.find({ relevancy: 1 }).toArray()',
    /^scattered: find newsfeedItems, from src.feed.models/,
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
    'features/follow/store/follows.ts',
    'collection.countDocuments({ active: true })',
    /^scattered: count follows/,
  ],
  [
    'nobodys',
    'features/follow/store/follows.ts',
    'collection.findOne({})',
    /^Error: nobodys has no shard key/,
  ],
  [
    'itemMarks',
    'features/marks/store/item-marks.ts',
    "collection.bulkWrite([{ deleteMany: { filter: { '_id.actionId': 1 } } }, { deleteMany: { filter: { x: 1 } } }])",
    /^scattered: delete itemMarks/,
  ],
  [
    'erasures',
    'parts/events/src/store/event-sources.ts',
    "collection.aggregate([{ $unionWith: { coll: 'follows', pipeline: [{ $match: { active: true } }] } }]).toArray()",
    /^scattered: aggregate follows/,
  ],
])('a command on %s from %s would fail its test: %s', async (name, path, code, fault) => {
  const { faults } = await judged(name, path, code);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(fault);
});

const HELD =
  'reads of newsfeedItems: feeds that contain an action that was withdrawn or addressed to others (_id)';

it.each([
  ['newsfeedItems', HOLDER, "collection.find({ userId: 'ann', relevancy: 1 }).toArray()", []],
  ['newsfeedItems', HOLDER, "collection.find({ _id: { $gt: 'a' } }).toArray()", [HELD]],
  [
    'follows',
    'features/follow/store/follow-reads.ts',
    "collection.find({ $and: [{ refId: 'site' }] }).toArray()",
    ['reads of follows: followers of a ref, merged in order (refId)'],
  ],
  [
    'itemMarks',
    'features/marks/store/item-marks.ts',
    "collection.bulkWrite([{ deleteMany: { filter: { '_id.actionId': 1 } } }])",
    ['writes of itemMarks: purging a deleted action (_id.actionId)'],
  ],
  [
    'follows',
    'features/follow/store/follow-reads.ts',
    "collection.aggregate([{ $match: { followerId: 'ann' } }, { $unionWith: { coll: 'refs', pipeline: [{ $match: { 'rename.due': 1 } }] } }]).toArray()",
    ['reads of refs: renames that are due (rename.due)'],
  ],
])('a command on %s from %s has its shard key or a reason: %s', async (name, path, code, reasons) => {
  expect(await judged(name, path, code)).toEqual({ faults: [], reasons });
  expect(allReasons()).toEqual(expect.arrayContaining(reasons));
});

it('a reason that no command of a run had is found', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-reasons-'));
  try {
    const path = join(folder, 'used');
    const [one, two, ...others] = allReasons();
    expect(unusedReasons(path)).toEqual(allReasons());
    await writeFile(path, others.join('\n'));
    expect(unusedReasons(path)).toEqual([one, two]);
    expect(new Set(allReasons()).size).toBe(allReasons().length);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('commands of a test itself do not count', async () => {
  const database = await openShared(await borrowDatabase());
  await database.db.collection('newsfeedItems').find({ relevancy: 1 }).toArray();
  await returnDatabase(database);
  expect(takeShardFaults()).toEqual([]);
});
