import { MongoServerError, type Db, type Document } from 'mongodb';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/engine.ts';
import type { Thing } from './thing.ts';

interface Case {
  readonly command: Document;
  readonly before?: (db: Db) => Promise<unknown>;
  readonly code: number;
  readonly codeName: string;
}

const indexA = (db: Db) => db.collection('c').createIndexes([{ key: { a: 1 } }]);

/** Commands that fail as a whole, with MongoDB's number and name for the reason. */
const cases: Readonly<Record<string, Case>> = {
  'a command it does not know': { command: { noSuchThing: 1 }, code: 59, codeName: 'CommandNotFound' },
  'an unknown query operator': {
    command: { find: 'c', filter: { a: { $foo: 1 } } },
    code: 2,
    codeName: 'BadValue',
  },
  'an unknown pipeline stage': {
    command: { aggregate: 'c', pipeline: [{ $foo: {} }], cursor: {} },
    code: 40324,
    codeName: 'Location40324',
  },
  'a sort that is no document': { command: { find: 'c', sort: 'a' }, code: 14, codeName: 'TypeMismatch' },
  'an update without operations': { command: { update: 'c' }, code: 9, codeName: 'FailedToParse' },
  'a tailable cursor': { command: { find: 'c', tailable: true }, code: 2, codeName: 'BadValue' },
  'a maxTimeMS that is no number': {
    command: { find: 'c', maxTimeMS: 'soon' },
    code: 2,
    codeName: 'BadValue',
  },
  'a collection without a name': { command: { find: '' }, code: 73, codeName: 'InvalidNamespace' },
  'a collection name that is no text': {
    command: { insert: 7, documents: [] },
    code: 73,
    codeName: 'InvalidNamespace',
  },
  'a collection name with a dollar sign': {
    command: { create: 'a$b' },
    code: 73,
    codeName: 'InvalidNamespace',
  },
  'listIndexes of what is not there': {
    command: { listIndexes: 'none' },
    code: 26,
    codeName: 'NamespaceNotFound',
  },
  'dropIndexes by an unknown name': {
    before: indexA,
    command: { dropIndexes: 'c', index: 'nope' },
    code: 27,
    codeName: 'IndexNotFound',
  },
  'the same index by another name': {
    before: indexA,
    command: { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'other' }] },
    code: 85,
    codeName: 'IndexOptionsConflict',
  },
  'another index by the same name': {
    before: indexA,
    command: { createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'a_1' }] },
    code: 86,
    codeName: 'IndexKeySpecsConflict',
  },
  'a view where another one is': {
    before: (db) => db.createCollection('v', { viewOn: 'a', pipeline: [] }),
    command: { create: 'v', viewOn: 'b', pipeline: [] },
    code: 48,
    codeName: 'NamespaceExists',
  },
  'getMore of an unknown cursor': {
    command: { getMore: 12345678901n, collection: 'c' },
    code: 43,
    codeName: 'CursorNotFound',
  },
  'findAndModify of an immutable field': {
    before: (db) => db.collection<Thing>('c').insertOne({ _id: 1 }),
    command: { findAndModify: 'c', query: { _id: 1 }, update: { $set: { _id: 2 } } },
    code: 66,
    codeName: 'ImmutableField',
  },
  'findAndModify with an unknown operator': {
    command: { findAndModify: 'c', query: {}, update: { $foo: { a: 1 } } },
    code: 9,
    codeName: 'FailedToParse',
  },
  'explain of what cannot be explained': {
    command: { explain: { ping: 1 } },
    code: 59,
    codeName: 'CommandNotFound',
  },
  'explain with an unknown verbosity': {
    command: { explain: { find: 'c' }, verbosity: 'much' },
    code: 2,
    codeName: 'BadValue',
  },
  'a transaction': {
    command: { insert: 'c', documents: [{ a: 1 }], startTransaction: true, autocommit: false },
    code: 20,
    codeName: 'IllegalOperation',
  },
};

test.for(Object.entries(cases))('rejects %s', async ([, { command, before, code, codeName }]) => {
  await using database = await testDatabase();
  await before?.(database.db);
  const error: unknown = await database.db.command(command).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(MongoServerError);
  expect(error).toMatchObject({ code, codeName });
});

interface WriteCase {
  readonly write: (db: Db) => Promise<unknown>;
  readonly code: number;
}

/** Single writes that fail, with MongoDB's number. */
const writeCases: Readonly<Record<string, WriteCase>> = {
  'a duplicate _id': { write: (db) => db.collection<Thing>('c').insertOne({ _id: 1 }), code: 11000 },
  'a duplicate of a unique index': {
    write: (db) => db.collection<Thing>('c').insertOne({ _id: 2, a: 1 }),
    code: 11000,
  },
  'an update into a duplicate': {
    write: (db) => db.collection<Thing>('c').updateOne({ _id: 5 }, { $set: { a: 1 } }),
    code: 11000,
  },
  'an upsert into a duplicate': {
    write: (db) => db.collection<Thing>('c').updateOne({ _id: 6 }, { $set: { a: 1 } }, { upsert: true }),
    code: 11000,
  },
  'a findAndModify into a duplicate': {
    write: (db) =>
      db.collection<Thing>('c').findOneAndUpdate({ _id: 6 }, { $set: { a: 1 } }, { upsert: true }),
    code: 11000,
  },
  'a change of _id': {
    write: (db) => db.collection<Thing>('c').updateOne({ _id: 1 }, { $set: { _id: 7 } }),
    code: 66,
  },
  'an unknown update operator': {
    write: (db) => db.collection<Thing>('c').updateOne({ _id: 1 }, { $foo: { a: 1 } }),
    code: 9,
  },
  '$inc of a text': {
    write: (db) => db.collection<Thing>('c').updateOne({ _id: 1 }, { $inc: { t: 1 } } as Document),
    code: 14,
  },
  'two operators on one path': {
    write: (db) =>
      db.collection<Thing>('c').updateOne({ _id: 1 }, { $set: { t: 1 }, $inc: { t: 1 } } as Document),
    code: 40,
  },
  'a path through a text': {
    write: (db) => db.collection<Thing>('c').updateOne({ _id: 1 }, { $set: { 't.x': 1 } }),
    code: 28,
  },
  '$push to what is no array': {
    write: (db) => db.collection<Thing>('c').updateOne({ _id: 1 }, { $push: { t: 1 } } as Document),
    code: 2,
  },
  'arrays on two paths of an index': {
    write: (db) => db.collection<Thing>('c').insertOne({ p: [1, 2], q: [1, 2] }),
    code: 171,
  },
  'a document against the validator': {
    write: async (db) => {
      await db.createCollection('checked', { validator: { a: { $type: 'int' } } });
      return await db.collection('checked').insertOne({ a: 'text' });
    },
    code: 121,
  },
};

test.for(Object.entries(writeCases))('rejects a write of %s', async ([, { write, code }]) => {
  await using database = await testDatabase();
  const c = database.db.collection<Thing>('c');
  await c.createIndexes([{ key: { a: 1 }, unique: true }, { key: { p: 1, q: 1 } }]);
  await c.insertMany([
    { _id: 1, a: 1, t: 'text' },
    { _id: 5, a: 5 },
  ]);
  const error: unknown = await write(database.db).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(MongoServerError);
  expect(error).toMatchObject({ code });
});

test.for([
  ['an insert', (db: Db) => db.collection<Thing>('c').insertOne({ b: { c: 'x' }, a: 1 })],
  ['an update', (db: Db) => db.collection('c').updateOne({ other: true }, { $set: { a: 1, 'b.c': 'x' } })],
  [
    'an upsert',
    (db: Db) =>
      db
        .collection('c')
        .updateOne({ z: 9 }, { $set: { 'b.c': 'x' }, $setOnInsert: { a: 1 } }, { upsert: true }),
  ],
  [
    'a findAndModify',
    (db: Db) =>
      db.collection('c').findOneAndUpdate({ z: 9 }, { $set: { a: 1, 'b.c': 'x' } }, { upsert: true }),
  ],
] as const)('reports index and value of a duplicate by %s', async ([, write]) => {
  await using database = await testDatabase();
  const c = database.db.collection('c');
  await c.createIndexes([{ key: { a: 1, 'b.c': -1 }, unique: true, name: 'pair' }]);
  await c.insertMany([
    { a: 1, b: { c: 'x' } },
    { a: 2, other: true },
  ]);
  const error: unknown = await write(database.db).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 11000,
    keyPattern: { a: 1, 'b.c': -1 },
    keyValue: { a: 1, 'b.c': 'x' },
  });
  expect(String(error)).toContain(
    `E11000 duplicate key error collection: ${database.name}.c index: pair dup key:`,
  );
});

test('stops a query when its time limit expires', async () => {
  await using database = await testDatabase();
  const c = database.db.collection('c');
  await c.insertMany(Array.from({ length: 3_000 }, (_, n) => ({ n })));
  const later = {
    from: 'c',
    let: { at: '$n' },
    pipeline: [{ $match: { $expr: { $gt: ['$n', '$$at'] } } }],
    as: 'later',
  };
  const slow = c.aggregate([{ $lookup: later }, { $match: { 'later.n': -1 } }], { maxTimeMS: 50 });
  await expect(slow.toArray()).rejects.toMatchObject({ code: 50, codeName: 'MaxTimeMSExpired' });
  // The limit was that query's own.
  expect(await c.countDocuments()).toBe(3_000);
});

test('rejects a document above 16 MiB, and accepts one just below', async () => {
  await using database = await testDatabase();
  const c = database.db.collection<Thing>('c');
  const limit = 16 * 1024 * 1024;
  await c.insertOne({ _id: 1, text: 'x'.repeat(limit - 100) });
  expect((await c.findOne({ _id: 1 }))?.['text']).toHaveLength(limit - 100);
  await expect(c.updateOne({ _id: 1 }, { $set: { more: 'y'.repeat(200) } })).rejects.toMatchObject({
    code: 17419,
  });
  const tooBig = database.db.command({ insert: 'c', documents: [{ text: 'x'.repeat(limit) }] });
  await expect(tooBig).rejects.toMatchObject({ code: 10334, codeName: 'BSONObjectTooLarge' });
});
