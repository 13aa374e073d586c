import { once } from 'node:events';
import type { Collection, Document } from 'mongodb';
import { expect, inject, onTestFinished, test } from 'vitest';
import { COLLECTIONS } from '../../../src/app/collections.ts';
import { isDatabaseUnavailable } from '../../../src/storage/database/errors.ts';
import type { Database } from '../../../src/storage/database/mongo.ts';
import { ensureIndexes, indexesOf } from '../../../src/storage/indexes/indexes.ts';
import { connectDatabase } from '../../../src/app/collections.ts';
import { testDatabase } from '../../support/engine.ts';
import { HELLO, isHello, startServerDouble } from '../../support/router.ts';

// What MongoDB answers and the local engine does not, as its manual has it: the commands `hello` and `createIndexes`, write
// concern, and the codes of error_codes.yml.

type Answer = (command: Document) => Document | null | undefined | Promise<Document>;

interface Stand {
  readonly database: Database;
  /** Every command that was sent, but for the driver's own. */
  readonly sent: Document[];
  /** Answers instead of the engine. */
  answer: Answer;
}

async function connectTo(
  hello: Document,
  {
    query = '',
    ...within
  }: { readonly query?: string; readonly answersWithinMs?: number; readonly readsWithinMs?: number } = {},
): Promise<Stand> {
  const spare = await testDatabase();
  onTestFinished(() => spare[Symbol.asyncDispose]());
  const sent: Document[] = [];
  let answer: Answer = () => null;
  const double = await startServerDouble(inject('mongodbUri'), async (command) => {
    if (isHello(command)) return { ...HELLO, localTime: new Date(), ...hello };
    if (!('endSessions' in command)) sent.push(command);
    return answer(command);
  });
  onTestFinished(() => double[Symbol.asyncDispose]());
  const uri = new URL(double.uri);
  for (const [name, value] of new URLSearchParams(query)) uri.searchParams.set(name, value);
  const database = await connectDatabase({
    ...{ uri: uri.href, db: spare.name, maxPoolSize: 2, ...within },
  });
  onTestFinished(() => database.close());
  return {
    database,
    sent,
    set answer(next: Answer) {
      answer = next;
    },
  };
}

test('a server of version 5 is refused with a sentence', async () => {
  await expect(connectTo({ maxWireVersion: 13 })).rejects.toThrow(
    /^The database is MongoDB \S+, or speaks its protocol\. Fanfare needs 6\.0 or newer\.$/,
  );
});

test.for([
  ['', { w: 'majority' }],
  ['w=1', { w: 1 }],
  ['wtimeoutMS=500&journal=true', { w: 'majority', wtimeout: 500, j: true }],
] as const)('with %j in the URI, writes ask for %j', async ([query, expected]) => {
  const { database, sent } = await connectTo({}, { query });
  await database.db.collection('things').insertOne({ name: 'one' });
  expect(sent.find((command) => 'insert' in command)?.['writeConcern']).toEqual(expected);
});

test.for([
  ['a single server', {}, undefined],
  ['a replica set', { setName: 'rs', hosts: ['127.0.0.1:1'], primary: '127.0.0.1:1' }, 'majority'],
  ['mongos', { msg: 'isdbgrid' }, 'majority'],
] as const)(
  'a build of indexes on %s may take longer than other commands, and a member that is down does not hold it up',
  async ([, hello, quorum]) => {
    const stand = await connectTo(hello, { query: 'directConnection=true', answersWithinMs: 3_000 });
    const { database, sent } = stand;
    let end: (answer: Document) => void = () => undefined;
    const ended = new Promise<Document>((resolve) => (end = resolve));
    stand.answer = (command) => ('createIndexes' in command ? ended : 'update' in command ? undefined : null);
    const [first] = COLLECTIONS;
    const building = ensureIndexes(database.db, first === undefined ? [] : indexesOf(first));
    await expect.poll(() => sent.find((command) => 'createIndexes' in command)).toBeDefined();
    // Waits for as long as any other command does.
    await expect(database.db.collection('things').updateOne({}, { $set: { n: 1 } })).rejects.toThrow(
      'timed out',
    );
    end({ numIndexesBefore: 1, numIndexesAfter: 2 });
    expect(await building).not.toEqual([]);
    expect(sent.find((command) => 'createIndexes' in command)?.['commitQuorum']).toEqual(quorum);
  },
);

test.for<readonly [string, (things: Collection) => Promise<unknown>]>([
  ['find', (things) => things.find().toArray()],
  ['aggregate', (things) => things.aggregate([{ $sort: { n: 1 } }]).toArray()],
  ['distinct', (things) => things.distinct('n')],
])(
  '%s is ended in time, with its connection, and not tried again; a write is not ended',
  async ([name, read]) => {
    const stand = await connectTo(
      { setName: 'rs', hosts: ['127.0.0.1:1'], primary: '127.0.0.1:1' },
      { query: 'directConnection=true', readsWithinMs: 300 },
    );
    const { database, sent } = stand;
    const things = database.db.collection('things');
    const isWrite = ({ pipeline }: Document): boolean => Array.isArray(pipeline) && pipeline.length === 2;
    let end: (answer: Document) => void = () => undefined;
    const written = new Promise<Document>((resolve) => (end = resolve));
    stand.answer = (command) => (isWrite(command) ? written : name in command ? undefined : null);
    const writing = things.aggregate([{ $match: {} }, { $merge: 'others' }]).toArray();
    await expect.poll(() => sent.some(isWrite)).toBe(true);
    const closed = once(database.db.client, 'connectionClosed');
    const error: unknown = await read(things).catch((reason: unknown) => reason);
    expect(isDatabaseUnavailable(error)).toBe(true);
    await closed;
    expect(sent.filter((command) => name in command && !isWrite(command))).toHaveLength(1);
    end({ cursor: { id: 0n, ns: 'db.things', firstBatch: [] } });
    expect(await writing).toEqual([]);
  },
);

const failure = (code: number, codeName: string) => ({ ok: 0, code, codeName, errmsg: codeName });
const written = { n: 1, nModified: 1 };

test.for<[string, Document]>([
  ['a primary that has stepped down', failure(10_107, 'NotWritablePrimary')],
  ['a stale shard version', failure(13_388, 'StaleConfig')],
  ['a lock that was not free in time', failure(24, 'LockTimeout')],
  ['a shard that has no ticket', failure(365, 'TemporarilyUnavailable')],
  ['an error with a label', { ...failure(8_000, 'AtlasError'), errorLabels: ['RetryableWriteError'] }],
  [
    'a write that no majority has confirmed',
    { ...written, writeConcernError: { code: 64, errmsg: 'waited' } },
  ],
  ['a write during an election', { ...written, writeConcernError: { code: 91, errmsg: 'shutting down' } }],
])('%s counts as a database that is away', async ([, reply]) => {
  const stand = await connectTo({});
  const things = stand.database.db.collection('things');
  stand.answer = (command) => ('update' in command ? reply : null);
  const one = await things.updateOne({ name: 'one' }, { $set: { n: 1 } }).catch((error: unknown) => error);
  const many = await things
    .bulkWrite([{ updateOne: { filter: { name: 'one' }, update: { $set: { n: 1 } } } }], { ordered: false })
    .catch((error: unknown) => error);
  expect([isDatabaseUnavailable(one), isDatabaseUnavailable(many)]).toEqual([true, true]);
});

test('a cursor that is gone counts as a database that is away', async () => {
  const stand = await connectTo({});
  const things = stand.database.db.collection<{ _id: number }>('things');
  await things.insertMany(Array.from({ length: 5 }, (_, _id) => ({ _id })));
  stand.answer = (command) => ('getMore' in command ? failure(43, 'CursorNotFound') : null);
  const error = await things
    .find()
    .batchSize(2)
    .toArray()
    .catch((fault: unknown) => fault);
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test('a command that nobody answers ends, and so does one that waits for its connection; the next are answered', async () => {
  const stand = await connectTo({}, { answersWithinMs: 3_000 });
  const things = stand.database.db.collection('things');
  stand.answer = (command) => ('update' in command ? undefined : null);
  const errors = await Promise.all(
    Array.from({ length: 5 }, (_, n) =>
      things.updateOne({ name: n }, { $set: { n } }).catch((error: unknown) => error),
    ),
  );
  expect(errors.map(isDatabaseUnavailable)).toEqual(errors.map(() => true));
  stand.answer = () => null;
  expect((await things.updateOne({ name: 1 }, { $set: { n: 1 } }, { upsert: true })).upsertedCount).toBe(1);
});
