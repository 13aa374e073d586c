import { Long, type Document } from 'mongodb';
import { expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../../test/support/engine.ts';
import type { Thing } from './thing.ts';

/** A collection `c` of so many documents, whose `x` runs against their `_id`. */
async function numbers(count: number): Promise<TestDatabase> {
  const database = await testDatabase();
  const documents = Array.from({ length: count }, (_, n) => ({ _id: n, x: count - n, text: 't'.repeat(40) }));
  await database.db.collection<Thing>('c').insertMany(documents);
  return database;
}

interface Page {
  readonly cursor: {
    readonly id: Long;
    readonly ns: string;
    readonly firstBatch: Document[];
    readonly nextBatch: Document[];
  };
}

async function command(database: TestDatabase, body: Document): Promise<Page> {
  return (await database.db.command(body, { promoteLongs: false })) as unknown as Page;
}

test.for([
  ['in natural order', {}],
  ['sorted by an index', { sort: { _id: -1 } }],
  ['sorted without an index', { sort: { x: 1 } }],
  ['filtered', { filter: { x: { $gt: 0 } } }],
] as const)('returns every document once, page by page, %s', async ([, options]) => {
  await using database = await numbers(2_500);
  const filter = 'filter' in options ? options.filter : {};
  const cursor = database.db.collection<Thing>('c').find(filter, { ...options, batchSize: 100 });
  const seen: number[] = [];
  for await (const { _id } of cursor) seen.push(Number(_id));
  expect(new Set(seen).size).toBe(2_500);
  expect(seen).toHaveLength(2_500);
  if ('sort' in options) expect(seen).toEqual(seen.toSorted((a, b) => b - a));
});

test('returns every group of an aggregation, page by page', async () => {
  await using database = await numbers(1_000);
  const groups = database.db
    .collection('c')
    .aggregate([{ $group: { _id: { $mod: ['$x', 400] }, n: { $sum: 1 } } }, { $sort: { _id: 1 } }], {
      batchSize: 50,
    });
  const ids: unknown[] = [];
  for await (const group of groups) ids.push(group['_id']);
  expect(ids).toEqual(Array.from({ length: 400 }, (_, n) => n));
});

test('starts with 101 documents, and then returns what fits into one message', async () => {
  await using database = await numbers(5_000);
  const first = await command(database, { find: 'c' });
  expect(first.cursor.firstBatch).toHaveLength(101);
  const second = await command(database, { getMore: first.cursor.id, collection: 'c' });
  expect(second.cursor.nextBatch).toHaveLength(4_899);
  expect(second.cursor.id.isZero()).toBe(true);
});

test('splits pages so that none exceeds 16 MiB', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Thing>('c');
  for (let n = 0; n < 6; n += 1) await c.insertOne({ _id: n, text: 'x'.repeat(6_000_000) });
  const first = await command(database, { find: 'c', batchSize: 100 });
  expect(first.cursor.firstBatch).toHaveLength(2);
  const rest = await c.find({}, { batchSize: 100, projection: { text: 1 } }).toArray();
  expect(rest.map(({ text }) => String(text).length)).toEqual(Array.from({ length: 6 }, () => 6_000_000));
});

test('opens a cursor with an empty first page for batchSize 0', async () => {
  await using database = await numbers(3);
  const { cursor } = await command(database, { find: 'c', batchSize: 0 });
  expect(cursor.firstBatch).toEqual([]);
  expect(cursor.id.isZero()).toBe(false);
  const more = await command(database, { getMore: cursor.id, collection: 'c' });
  expect(more.cursor.nextBatch).toHaveLength(3);
});

test('opens no cursor for a single batch, or if everything fits', async () => {
  await using database = await numbers(10);
  const single = await command(database, { find: 'c', batchSize: 4, singleBatch: true });
  expect(single.cursor.firstBatch).toHaveLength(4);
  expect(single.cursor.id.isZero()).toBe(true);
  const limited = await command(database, { find: 'c', limit: 4 });
  expect(limited.cursor.id.isZero()).toBe(true);
  const all = await command(database, { find: 'c' });
  expect(all.cursor.id.isZero()).toBe(true);
});

test('closes cursors on request, and reports unknown ones', async () => {
  await using database = await numbers(500);
  const { cursor } = await command(database, { find: 'c', sort: { x: 1 }, batchSize: 10 });
  const unknown = Long.fromNumber(4711);
  const killed = await command(database, { killCursors: 'c', cursors: [cursor.id, unknown] });
  expect(killed).toMatchObject({ cursorsKilled: [cursor.id], cursorsNotFound: [unknown] });
  const late = command(database, { getMore: cursor.id, collection: 'c' });
  await expect(late).rejects.toMatchObject({ code: 43, codeName: 'CursorNotFound' });
});

test('accepts a cursor only with its own collection', async () => {
  await using database = await numbers(500);
  const { cursor } = await command(database, { find: 'c', batchSize: 10 });
  const foreign = command(database, { getMore: cursor.id, collection: 'other' });
  await expect(foreign).rejects.toMatchObject({ code: 13, codeName: 'Unauthorized' });
  const own = await command(database, { getMore: cursor.id, collection: 'c', batchSize: 5 });
  expect(own.cursor.nextBatch).toHaveLength(5);
});

test('closes cursors with their session or dropped collection', async () => {
  await using database = await numbers(500);
  const c = database.db.collection('c');
  const session = database.client.startSession();
  const open = c.find({}, { session, batchSize: 10 });
  await open.next();
  const id = open.id;
  await database.db.command({ killSessions: [session.id] });
  await expect(database.db.command({ getMore: id, collection: 'c' })).rejects.toMatchObject({ code: 43 });
  const { cursor } = await command(database, { find: 'c', batchSize: 10 });
  await c.drop();
  await expect(database.db.command({ getMore: cursor.id, collection: 'c' })).rejects.toMatchObject({
    code: 43,
  });
  await session.endSession();
});

test('keeps many cursors open at once, each at its own position', async () => {
  await using database = await numbers(300);
  const c = database.db.collection<Thing>('c');
  const cursors = Array.from({ length: 60 }, () => c.find({}, { sort: { x: 1 }, batchSize: 20 }));
  for (let place = 299; place >= 200; place -= 1) {
    const found = await Promise.all(cursors.map((cursor) => cursor.next()));
    expect(found.every((document) => document?._id === place)).toBe(true);
  }
  await Promise.all(cursors.map((cursor) => cursor.close()));
});
