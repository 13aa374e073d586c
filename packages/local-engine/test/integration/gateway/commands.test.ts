import type { Db, Document } from 'mongodb';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/engine.ts';
import type { Thing } from './thing.ts';

interface Case {
  readonly command: Document;
  /** Against the database `admin` instead of the test's own. */
  readonly onAdmin?: boolean;
  readonly before?: (db: Db) => Promise<unknown>;
  readonly reply: Document;
}

// Matchers are typed as any.
const aNumber: unknown = expect.any(Number);
const aText: unknown = expect.any(String);
const aList: unknown = expect.any(Array);

const three = (db: Db) =>
  db.collection<Thing>('c').insertMany([
    { _id: 1, x: 1 },
    { _id: 2, x: 1 },
    { _id: 3, x: 2 },
  ]);

/** Every command a driver or a tool sends, with what the reply must hold. */
const cases: Readonly<Record<string, Case>> = {
  ping: { command: { ping: 1 }, reply: { ok: 1 } },
  'hello as a standalone': {
    command: { hello: 1 },
    reply: {
      isWritablePrimary: true,
      readOnly: false,
      maxBsonObjectSize: 16_777_216,
      logicalSessionTimeoutMinutes: 30,
    },
  },
  isMaster: { command: { isMaster: 1 }, reply: { ismaster: true, minWireVersion: 0 } },
  buildInfo: { command: { buildInfo: 1 }, reply: { bits: 64, maxBsonObjectSize: 16_777_216 } },
  connectionStatus: {
    command: { connectionStatus: 1 },
    reply: { authInfo: { authenticatedUsers: [{ user: 'fanfare', db: 'admin' }] } },
  },
  whatsmyuri: { command: { whatsmyuri: 1 }, onAdmin: true, reply: { you: aText } },
  getLog: { command: { getLog: 'startupWarnings' }, onAdmin: true, reply: { log: aList } },
  'getLog of everything': { command: { getLog: '*' }, onAdmin: true, reply: { names: aList } },
  getParameter: {
    command: { getParameter: 1, featureCompatibilityVersion: 1 },
    onAdmin: true,
    reply: { featureCompatibilityVersion: { version: aText } },
  },
  hostInfo: { command: { hostInfo: 1 }, onAdmin: true, reply: { system: { hostname: aText } } },
  serverStatus: {
    command: { serverStatus: 1 },
    onAdmin: true,
    reply: { connections: { current: aNumber } },
  },
  currentOp: { command: { currentOp: 1 }, onAdmin: true, reply: { inprog: aList } },
  endSessions: { command: { endSessions: [] }, reply: { ok: 1 } },
  killSessions: { command: { killSessions: [] }, reply: { ok: 1 } },
  refreshSessions: { command: { refreshSessions: [] }, reply: { ok: 1 } },
  'create of a collection': { command: { create: 'c' }, reply: { ok: 1 } },
  'create of a view': { command: { create: 'v', viewOn: 'c', pipeline: [] }, reply: { ok: 1 } },
  'insert with the documents in the body': {
    command: { insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] },
    reply: { n: 2 },
  },
  'update with the operations in the body': {
    before: three,
    command: { update: 'c', updates: [{ q: { x: 1 }, u: { $set: { y: 1 } }, multi: true }] },
    reply: { n: 2, nModified: 2 },
  },
  'update that upserts': {
    command: { update: 'c', updates: [{ q: { _id: 9 }, u: { $set: { y: 1 } }, upsert: true }] },
    reply: { n: 1, nModified: 0, upserted: [{ index: 0, _id: 9 }] },
  },
  'update by a pipeline': {
    before: three,
    command: { update: 'c', updates: [{ q: { _id: 3 }, u: [{ $set: { x: { $add: ['$x', 40] } } }] }] },
    reply: { n: 1, nModified: 1 },
  },
  'update with array filters': {
    before: (db) =>
      db.collection('c').insertOne({
        refs: [
          { id: 'a', label: 'old' },
          { id: 'b', label: 'old' },
        ],
      }),
    command: {
      update: 'c',
      updates: [
        { q: {}, u: { $set: { 'refs.$[r].label': 'new' } }, arrayFilters: [{ 'r.id': 'a' }], multi: true },
      ],
    },
    reply: { n: 1, nModified: 1 },
  },
  'delete of one': {
    before: three,
    command: { delete: 'c', deletes: [{ q: { x: 1 }, limit: 1 }] },
    reply: { n: 1 },
  },
  'delete of all': {
    before: three,
    command: { delete: 'c', deletes: [{ q: { x: 1 }, limit: 0 }] },
    reply: { n: 2 },
  },
  'findAndModify that gives the new document': {
    before: three,
    command: { findAndModify: 'c', query: { _id: 3 }, update: { $inc: { x: 1 } }, new: true },
    reply: { value: { _id: 3, x: 3 }, lastErrorObject: { n: 1, updatedExisting: true } },
  },
  'findAndModify that removes by order': {
    before: three,
    command: { findAndModify: 'c', query: {}, sort: { _id: -1 }, remove: true },
    reply: { value: { _id: 3, x: 2 } },
  },
  'findAndModify that finds nothing': {
    command: { findAndModify: 'c', query: { _id: 3 }, update: { $inc: { x: 1 } } },
    reply: { value: null },
  },
  'find of a collection that is not there': {
    command: { find: 'none' },
    reply: { cursor: { firstBatch: [] } },
  },
  'find with filter, sort, skip, limit and projection': {
    before: three,
    command: {
      find: 'c',
      filter: { x: { $gte: 1 } },
      sort: { _id: -1 },
      skip: 1,
      limit: 1,
      projection: { x: 1, _id: 0 },
    },
    reply: { cursor: { firstBatch: [{ x: 1 }] } },
  },
  'count of a filter with skip and limit': {
    before: three,
    command: { count: 'c', query: { x: { $lte: 2 } }, skip: 1, limit: 1 },
    reply: { n: 1 },
  },
  'count of everything': { before: three, command: { count: 'c' }, reply: { n: 3 } },
  distinct: { before: three, command: { distinct: 'c', key: 'x', query: {} }, reply: { values: [1, 2] } },
  'aggregate with $group': {
    before: three,
    command: {
      aggregate: 'c',
      pipeline: [{ $group: { _id: '$x', n: { $sum: 1 } } }, { $sort: { _id: 1 } }],
      cursor: {},
    },
    reply: {
      cursor: {
        firstBatch: [
          { _id: 1, n: 2 },
          { _id: 2, n: 1 },
        ],
      },
    },
  },
  'aggregate with $facet': {
    before: three,
    command: {
      aggregate: 'c',
      pipeline: [{ $facet: { ones: [{ $match: { x: 1 } }], n: [{ $count: 'n' }] } }],
      cursor: {},
    },
    reply: {
      cursor: {
        firstBatch: [
          {
            ones: [
              { _id: 1, x: 1 },
              { _id: 2, x: 1 },
            ],
            n: [{ n: 3 }],
          },
        ],
      },
    },
  },
  'aggregate with $lookup': {
    before: three,
    command: {
      aggregate: 'c',
      pipeline: [
        { $match: { _id: 3 } },
        { $lookup: { from: 'c', localField: 'x', foreignField: '_id', as: 'same' } },
      ],
      cursor: {},
    },
    reply: { cursor: { firstBatch: [{ _id: 3, x: 2, same: [{ _id: 2, x: 1 }] }] } },
  },
  'aggregate of the database': {
    command: { aggregate: 1, pipeline: [{ $documents: [{ a: 1 }] }], cursor: {} },
    reply: { cursor: { firstBatch: [{ a: 1 }] } },
  },
  'listIndexes in the form of MongoDB': {
    before: (db) =>
      db
        .collection('c')
        .createIndexes([{ key: { a: 1, b: -1 }, unique: true, partialFilterExpression: { c: true } }]),
    command: { listIndexes: 'c' },
    reply: {
      cursor: {
        firstBatch: [
          { v: 2, key: { _id: 1 }, name: '_id_' },
          {
            v: 2,
            key: { a: 1, b: -1 },
            name: 'a_1_b_-1',
            unique: true,
            partialFilterExpression: { c: true },
          },
        ],
      },
    },
  },
  'createIndexes on nothing': {
    command: { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] },
    reply: { numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: true, ok: 1 },
  },
  'createIndexes of what is there': {
    before: (db) => db.collection('c').createIndexes([{ key: { a: 1 } }]),
    command: { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] },
    reply: { numIndexesBefore: 2, numIndexesAfter: 2, note: 'all indexes already exist' },
  },
  'dropIndexes by name': {
    before: (db) => db.collection('c').createIndexes([{ key: { a: 1 } }]),
    command: { dropIndexes: 'c', index: 'a_1' },
    reply: { nIndexesWas: 2, ok: 1 },
  },
  'dropIndexes of all': {
    before: (db) => db.collection('c').createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }]),
    command: { dropIndexes: 'c', index: '*' },
    reply: { nIndexesWas: 3, ok: 1 },
  },
  'listCollections by name': {
    before: three,
    command: { listCollections: 1, filter: { name: 'c' } },
    reply: { cursor: { firstBatch: [{ name: 'c', type: 'collection', idIndex: { name: '_id_' } }] } },
  },
  listDatabases: {
    before: three,
    command: { listDatabases: 1, nameOnly: true },
    onAdmin: true,
    reply: { databases: aList },
  },
  collMod: {
    before: (db) => db.collection('c').createIndexes([{ key: { at: 1 }, expireAfterSeconds: 60 }]),
    command: { collMod: 'c', index: { name: 'at_1', expireAfterSeconds: 120 } },
    reply: { expireAfterSeconds_old: 60, expireAfterSeconds_new: 120 },
  },
  collStats: { before: three, command: { collStats: 'c' }, reply: { count: 3, nindexes: 1 } },
  dbStats: { before: three, command: { dbStats: 1 }, reply: { ok: 1 } },
  planCacheClear: { before: three, command: { planCacheClear: 'c' }, reply: { ok: 1 } },
  'drop of a collection': {
    before: three,
    command: { drop: 'c' },
    reply: { ns: expect.stringMatching(/\.c$/) as unknown },
  },
  'drop of nothing': { command: { drop: 'c' }, reply: { ok: 1 } },
  dropDatabase: { before: three, command: { dropDatabase: 1 }, reply: { ok: 1 } },
};

test.for(Object.entries(cases))('answers %s', async ([, { command, onAdmin = false, before, reply }]) => {
  await using database = await testDatabase();
  await before?.(database.db);
  const db = onAdmin ? database.client.db('admin') : database.db;
  expect(await db.command(command)).toMatchObject(reply);
});

test('ignores the fields of sessions, concerns and API versions', async () => {
  await using database = await testDatabase();
  const session = database.client.startSession();
  const options = {
    session,
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority' },
    comment: 'why',
  } as const;
  const things = database.db.collection<Thing>('things');
  await things.insertOne({ _id: 1 }, options);
  await things.updateOne({ _id: 1 }, { $set: { a: 1 } }, options);
  expect(await things.findOne({ _id: 1 }, { ...options, readPreference: 'secondaryPreferred' })).toEqual({
    _id: 1,
    a: 1,
  });
  expect(await database.db.command({ count: 'things', apiVersion: '1', apiStrict: false })).toMatchObject({
    n: 1,
  });
  await session.endSession();
});

test('stores the result of $out and of $merge', async () => {
  await using database = await testDatabase();
  await three(database.db);
  const c = database.db.collection('c');
  await c.aggregate([{ $match: { x: 1 } }, { $out: 'copied' }]).toArray();
  await c.aggregate([{ $set: { merged: true } }, { $merge: { into: 'copied' } }]).toArray();
  const copied = await database.db.collection<Thing>('copied').find().sort({ _id: 1 }).toArray();
  expect(copied).toEqual([
    { _id: 1, x: 1, merged: true },
    { _id: 2, x: 1, merged: true },
    { _id: 3, x: 2, merged: true },
  ]);
});

test('renames a collection', async () => {
  await using database = await testDatabase();
  await three(database.db);
  await database.db.collection('c').rename('d');
  expect(await database.db.collection('d').countDocuments()).toBe(3);
  expect(await database.db.collection('c').countDocuments()).toBe(0);
});
