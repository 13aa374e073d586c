import type { Document, IndexDescription } from 'mongodb';
import { expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../../test/support/engine.ts';
import type { Thing } from './thing.ts';

/** Follows the path of the first inputs down to what reads the documents. */
function stages(plan: Document): Document[] {
  const below = (plan['inputStage'] ?? (plan['inputStages'] as Document[] | undefined)?.[0]) as
    | Document
    | undefined;
  return below === undefined ? [plan] : [plan, ...stages(below)];
}

async function planOf(database: TestDatabase, command: Document): Promise<Document[]> {
  const explained = await database.db.command({ explain: command, verbosity: 'queryPlanner' });
  return stages((explained['queryPlanner'] as Document)['winningPlan'] as Document);
}

const names = (plan: readonly Document[]) => plan.map(({ stage }) => String(stage));

const kinds: readonly (readonly [string, IndexDescription['key'], Omit<IndexDescription, 'key'>])[] = [
  ['a compound index', { a: 1, b: -1 }, {}],
  ['a unique index', { a: 1 }, { unique: true }],
  ['a sparse index', { c: 1 }, { sparse: true }],
  ['a partial index', { a: 1 }, { partialFilterExpression: { b: { $gt: 3 } } }],
  ['a TTL index', { at: 1 }, { expireAfterSeconds: 3_600 }],
  ['a multikey index', { tags: 1, a: -1 }, {}],
  ['an index on a path', { 'e.f': 1 }, {}],
  ['an index with its own name', { a: 1 }, { name: 'mine' }],
];

test.for(kinds)(
  'builds %s over existing documents, ready when the command returns',
  async ([, key, options]) => {
    await using database = await testDatabase();
    const c = database.db.collection<Thing>('c');
    await c.insertMany(
      Array.from({ length: 300 }, (_, n) => ({
        a: n,
        b: n % 7,
        tags: [n % 3, n % 5],
        e: { f: n },
        at: new Date(),
      })),
    );
    const [name] = await c.createIndexes([{ ...options, key }]);
    const described = (await c.indexes()).find((index) => index.name === name);
    expect(described).toMatchObject({ v: 2, key, ...options });
  },
);

test('rejects a unique index over duplicates, and leaves none behind', async () => {
  await using database = await testDatabase();
  const c = database.db.collection('c');
  await c.insertMany([{ a: 1 }, { a: 2 }, { a: 1 }]);
  await expect(c.createIndexes([{ key: { a: 1 }, unique: true }])).rejects.toMatchObject({
    code: 11000,
    message: expect.stringContaining(
      `E11000 duplicate key error collection: ${database.name}.c index: a_1`,
    ) as string,
  });
  expect(await c.indexes()).toHaveLength(1);
});

test('lets several processes create the same indexes concurrently', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Thing>('c');
  await c.insertMany(Array.from({ length: 200 }, (_, n) => ({ a: n })));
  const create = () => c.createIndexes([{ key: { a: 1 } }, { key: { b: 1 }, unique: true, sparse: true }]);
  await Promise.all([create(), create(), create()]);
  expect((await c.indexes()).map(({ name }) => name).toSorted()).toEqual(['_id_', 'a_1', 'b_1']);
});

async function feed(): Promise<TestDatabase> {
  const database = await testDatabase();
  const c = database.db.collection<Thing>('feed');
  await c.createIndexes([{ key: { reader: 1, at: -1, _id: -1 }, name: 'page' }]);
  await c.createIndexes([{ key: { reader: 1, action: 1 }, name: 'once', unique: true }]);
  await c.insertMany(
    Array.from({ length: 3_000 }, (_, n) => ({
      _id: n,
      reader: n % 3,
      action: n,
      at: n % 900,
      refs: [n % 8, n % 5],
    })),
  );
  await c.createIndexes([{ key: { refs: 1, at: -1, _id: -1 }, name: 'slice' }]);
  await database.db.command({ planCacheClear: 'feed' });
  return database;
}

test('explains a keyset page as an ordered index scan without a sort', async () => {
  await using database = await feed();
  const filter = { reader: 1, at: { $lte: 450 }, $or: [{ at: { $lt: 450 } }, { _id: { $lt: 1_500 } }] };
  const plan = await planOf(database, { find: 'feed', filter, sort: { at: -1, _id: -1 }, limit: 26 });
  expect(names(plan)).toEqual(['LIMIT', 'FETCH', 'IXSCAN']);
  expect(plan.at(-1)).toMatchObject({
    indexName: 'page',
    keyPattern: { reader: 1, at: -1, _id: -1 },
    isMultiKey: false,
  });
});

test('explains a keyset page of a multikey index as an ordered scan too', async () => {
  await using database = await feed();
  const filter = { refs: 3, at: { $lte: 450 } };
  const plan = await planOf(database, { find: 'feed', filter, sort: { at: -1, _id: -1 }, limit: 26 });
  expect(names(plan)).toEqual(['LIMIT', 'FETCH', 'IXSCAN']);
  expect(plan.at(-1)).toMatchObject({ indexName: 'slice', isMultiKey: true });
});

test('explains $in with a sort as a merge of ordered scans', async () => {
  await using database = await feed();
  const filter = { refs: { $in: [1, 2, 3] } };
  const plan = await planOf(database, { find: 'feed', filter, sort: { at: -1, _id: -1 }, limit: 26 });
  expect(names(plan)).toEqual(['LIMIT', 'SORT_MERGE', 'FETCH', 'IXSCAN']);
});

test('finds the same with merged and ordered scans as with a full scan', async () => {
  await using database = await feed();
  const c = database.db.collection<Thing>('feed');
  const all = await c.find().toArray();
  for (const [wanted, below] of [
    [[3], 450],
    [[1, 2], 700],
    [[0, 4, 6, 7], 100],
    [[0, 1, 2, 3, 4, 5, 6, 7], 850],
  ] as const) {
    const expected = all
      .filter(
        ({ refs, at }) =>
          (refs as number[]).some((ref) => (wanted as readonly number[]).includes(ref)) &&
          Number(at) <= below,
      )
      .sort((x, y) => Number(y['at']) - Number(x['at']) || Number(y._id) - Number(x._id))
      .slice(0, 60);
    const found = await c
      .find({ refs: { $in: [...wanted] }, at: { $lte: below } })
      .sort({ at: -1, _id: -1 })
      .limit(60)
      .toArray();
    expect(found.map(({ _id }) => _id)).toEqual(expected.map(({ _id }) => _id));
  }
});

test.for([
  ['find', { find: 'feed', filter: { _id: 7 } }, '_id_'],
  ['aggregate', { aggregate: 'feed', pipeline: [{ $match: { reader: 1, action: 7 } }], cursor: {} }, 'once'],
  ['count', { count: 'feed', query: { reader: 1, action: 7 } }, 'once'],
  ['distinct', { distinct: 'feed', key: 'reader', query: { _id: 7 } }, '_id_'],
  ['update', { update: 'feed', updates: [{ q: { reader: 1, action: 7 }, u: { $set: { x: 1 } } }] }, 'once'],
  ['delete', { delete: 'feed', deletes: [{ q: { reader: 1, action: 7 }, limit: 1 }] }, 'once'],
  ['findAndModify', { findAndModify: 'feed', query: { reader: 1, action: 7 }, remove: true }, 'once'],
] as const)('explains which index %s uses, without executing it', async ([, command, indexName]) => {
  await using database = await feed();
  const plan = await planOf(database, command);
  expect(plan.at(-1)).toMatchObject({ stage: 'IXSCAN', indexName });
  expect(await database.db.collection('feed').countDocuments({ reader: 1, x: { $exists: false } })).toBe(
    1_000,
  );
});

test('explains a query without an index as a collection scan', async () => {
  await using database = await feed();
  const plan = await planOf(database, { find: 'feed', filter: { nowhere: 1 }, sort: { at: 1 } });
  expect(names(plan)).toEqual(['SORT', 'COLLSCAN']);
  expect(names(await planOf(database, { find: 'none', filter: { a: 1 } }))).toEqual(['EOF']);
});

test('counts examined keys and documents', async () => {
  await using database = await feed();
  const explained = await database.db
    .collection('feed')
    .find({ reader: 1, action: { $lt: 31 } })
    .explain('executionStats');
  expect(explained['executionStats']).toMatchObject({
    executionSuccess: true,
    nReturned: 10,
    totalDocsExamined: 10,
  });
  const scanned = await database.db.collection('feed').find({ nowhere: 1 }).explain('executionStats');
  expect(scanned['executionStats']).toMatchObject({ nReturned: 0, totalDocsExamined: 3_000 });
});

test('explains an aggregation with the explain option', async () => {
  await using database = await feed();
  const reply = await database.db.command({
    aggregate: 'feed',
    pipeline: [{ $match: { _id: 1 } }],
    explain: true,
  });
  expect(names(stages((reply['queryPlanner'] as Document)['winningPlan'] as Document))).toContain('IXSCAN');
});
