import { MongoBulkWriteError, type AnyBulkWriteOperation } from 'mongodb';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/engine.ts';
import type { Thing } from './thing.ts';

test('reports each failure of an unordered batch and executes the rest', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Thing>('c');
  await c.insertMany([{ _id: 1 }, { _id: 4 }]);
  const error: unknown = await c
    .insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }, { _id: 4 }, { _id: 5 }], { ordered: false })
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(MongoBulkWriteError);
  const { writeErrors, insertedCount } = error as MongoBulkWriteError;
  expect(insertedCount).toBe(3);
  expect([writeErrors].flat().map(({ index, code, errmsg }) => [index, code, errmsg])).toEqual([
    [0, 11000, `E11000 duplicate key error collection: ${database.name}.c index: _id_ dup key: { _id: 1 }`],
    [3, 11000, `E11000 duplicate key error collection: ${database.name}.c index: _id_ dup key: { _id: 4 }`],
  ]);
  expect(await c.countDocuments()).toBe(5);
});

test('stops an ordered batch at the first failure and keeps earlier writes', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Thing>('c');
  const error: unknown = await c
    .insertMany([{ _id: 1 }, { _id: 2 }, { _id: 1 }, { _id: 3 }])
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 11000, insertedCount: 2, writeErrors: [{ index: 2 }] });
  expect(await c.distinct('_id')).toEqual([1, 2]);
});

test('returns the counts and ids of a mixed batch', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Thing>('c');
  await c.insertMany([
    { _id: 1, x: 1 },
    { _id: 2, x: 1 },
    { _id: 3, x: 3 },
  ]);
  const operations: AnyBulkWriteOperation<Thing>[] = [
    { updateOne: { filter: { _id: 9 }, update: { $set: { x: 9 } }, upsert: true } },
    { insertOne: { document: { _id: 10 } } },
    { updateMany: { filter: { x: 1 }, update: { $set: { y: 1 } } } },
    { updateOne: { filter: { _id: 3 }, update: { $set: { x: 3 } } } },
    { replaceOne: { filter: { _id: 11 }, replacement: { z: 1 }, upsert: true } },
    { deleteOne: { filter: { _id: 3 } } },
  ];
  const result = await c.bulkWrite(operations);
  expect(result).toMatchObject({
    insertedCount: 1,
    matchedCount: 3,
    modifiedCount: 2,
    upsertedCount: 2,
    deletedCount: 1,
    upsertedIds: { 0: 9, 4: 11 },
  });
});

test('accepts the largest batch of the handshake, and more in several', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Thing>('c');
  const { insertedCount } = await c.insertMany(Array.from({ length: 25_001 }, (_, n) => ({ _id: n })));
  expect(insertedCount).toBe(25_001);
  expect(await c.countDocuments()).toBe(25_001);
});

test('accepts a message of nearly 48 MB', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Thing>('c');
  const text = 'x'.repeat(11_900_000);
  await c.insertMany([1, 2, 3, 4].map((_id) => ({ _id, text })));
  const lengths = await c
    .aggregate([{ $project: { n: { $strLenCP: '$text' } } }, { $sort: { _id: 1 } }])
    .toArray();
  expect(lengths.map(({ n }) => n as number)).toEqual([text.length, text.length, text.length, text.length]);
});

test('executes an unacknowledged write, in order with what follows', async () => {
  await using database = await testDatabase();
  const session = database.client.startSession();
  const c = database.db.collection<Thing>('c');
  const silent = { writeConcern: { w: 0 } } as const;
  expect(await c.insertOne({ _id: 1 }, silent)).toMatchObject({ acknowledged: false });
  await c.insertOne({ _id: 1 }, silent);
  await expect.poll(() => c.countDocuments()).toBe(1);
  await session.endSession();
});

interface Delivery {
  reader: number;
  action: number;
  n?: number;
}

interface Counter {
  key: string;
  n: number;
}

/** Each second rival goes the other way round. */
const inTurns = (rival: number, readers: readonly number[]) =>
  rival % 2 === 0 ? readers : readers.toReversed();
const rivals = [0, 1, 2, 3, 4, 5];
const readers = Array.from({ length: 200 }, (_, n) => n);

test('concurrent upserts of the same keys in any order each count once', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Delivery>('c');
  await c.createIndexes([{ key: { reader: 1, action: 1 }, unique: true }]);
  const upsertAll = (rival: number) =>
    c.bulkWrite(
      inTurns(rival, readers).map((reader) => ({
        updateOne: { filter: { reader, action: 1 }, update: { $inc: { n: 1 } }, upsert: true },
      })),
      { ordered: rival % 3 === 0 },
    );
  const results = await Promise.all(rivals.map(upsertAll));
  expect(results.reduce((sum, { upsertedCount }) => sum + upsertedCount, 0)).toBe(200);
  expect(results.reduce((sum, { matchedCount }) => sum + matchedCount, 0)).toBe(1_000);
  expect(await c.countDocuments({ n: 6 })).toBe(200);
});

test('concurrent inserts of the same keys in any order each succeed once', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Delivery>('c');
  await c.createIndexes([{ key: { reader: 1, action: 1 }, unique: true }]);
  const insertAll = async (rival: number): Promise<number> => {
    const documents = inTurns(rival, readers).map((reader) => ({ reader, action: 1 }));
    const result = await c.insertMany(documents, { ordered: false }).catch((error: unknown) => {
      if (!(error instanceof MongoBulkWriteError) || error.code !== 11000) throw error;
      return error;
    });
    return result.insertedCount;
  };
  const inserted = await Promise.all(rivals.map(insertAll));
  expect(inserted.reduce((sum, count) => sum + count, 0)).toBe(200);
  expect(await c.countDocuments()).toBe(200);
});

test('concurrent deletes of the same documents in any order each count once', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Delivery>('c');
  await c.createIndexes([{ key: { reader: 1 } }]);
  await c.insertMany(readers.map((reader) => ({ reader, action: 1 })));
  const deleteAll = (rival: number) =>
    c.bulkWrite(
      inTurns(rival, readers).map((reader) => ({ deleteOne: { filter: { reader } } })),
      { ordered: false },
    );
  const results = await Promise.all(rivals.map(deleteAll));
  expect(results.reduce((sum, { deletedCount }) => sum + deletedCount, 0)).toBe(200);
});

test('a hundred concurrent upserts of one key succeed', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Counter>('c');
  await c.createIndexes([{ key: { key: 1 }, unique: true }]);
  const upserts = Array.from({ length: 100 }, () =>
    c.updateOne({ key: 'a' }, { $inc: { n: 1 } }, { upsert: true }),
  );
  await Promise.all(upserts);
  expect(await c.find({}, { projection: { _id: 0 } }).toArray()).toEqual([{ key: 'a', n: 100 }]);
});

test('gives each document to one claimant only', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Thing>('c');
  await c.createIndexes([{ key: { state: 1, _id: 1 } }]);
  await c.insertMany(Array.from({ length: 50 }, (_, n) => ({ _id: n, state: 'PENDING' })));
  const claim = () =>
    c.findOneAndUpdate({ state: 'PENDING' }, { $set: { state: 'TAKEN' } }, { sort: { _id: 1 } });
  const claimed = await Promise.all(Array.from({ length: 60 }, claim));
  const ids = claimed.filter((found) => found !== null).map(({ _id }) => Number(_id));
  expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n));
});
