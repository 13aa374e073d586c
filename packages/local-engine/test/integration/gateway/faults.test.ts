import { createConnection, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { MongoClient, MongoNetworkError, MongoServerError, type Collection } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type GatewayOptions } from '../../../src/gateway/gateway.ts';
import { PostgresConnection } from '../../../src/gateway/postgres/connection.ts';
import { freshSocket, hasEngine, ownEngine, uriOf, type OwnEngine } from './own-engine.ts';
import { message, rawClient } from './raw-client.ts';
import { testFolder } from '../support.ts';
import type { Thing } from './thing.ts';
import { PATIENCE_MS } from '../../../../../test/support/patience.ts';

const suite = test.skipIf(!hasEngine);
let engine: OwnEngine | undefined;

beforeAll(async () => {
  if (hasEngine) engine = await ownEngine();
});

afterAll(async () => {
  await engine?.[Symbol.asyncDispose]();
});

function running(): OwnEngine {
  if (engine === undefined) throw new Error('No engine');
  return engine;
}

interface Setup extends AsyncDisposable {
  readonly socket: string;
  readonly client: MongoClient;
  readonly c: Collection<Thing>;
}

let setups = 0;

/** A gateway of its own with a client, and a collection nobody else uses. */
async function setup(options: Partial<GatewayOptions> = {}): Promise<Setup> {
  const { postgres } = running();
  const socket = freshSocket();
  const gateway = await startGateway({ postgres, socket, poolSize: 4, ...options });
  const client = await MongoClient.connect(uriOf(socket), { maxPoolSize: 10 });
  setups += 1;
  return {
    socket,
    client,
    c: client.db('faults').collection<Thing>(`c${String(setups)}`),
    async [Symbol.asyncDispose]() {
      await client.close();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

async function sql(text: string): Promise<string[]> {
  const pg = await PostgresConnection.connect(running().postgres);
  try {
    return (await pg.execute(text, [])).map((row) => String(row[0]));
  } finally {
    await pg.close();
  }
}

const ofGateway = `FROM pg_stat_activity WHERE application_name = 'gateway'`;
const terminateAll = () => sql(`SELECT pg_terminate_backend(pid)::text ${ofGateway}`);
const countActive = async () =>
  Number((await sql(`SELECT count(*)::text ${ofGateway} AND state = 'active'`))[0]);

/** A query that takes far longer than any test: each of 5,000 documents is compared with all others. */
async function slowQuery(c: Collection<Thing>): Promise<() => Promise<unknown>> {
  if ((await c.estimatedDocumentCount()) === 0)
    await c.insertMany(Array.from({ length: 5_000 }, (_, n) => ({ n })));
  const from = c.collectionName;
  const pipeline = [{ $match: { $expr: { $gt: ['$n', '$$at'] } } }, { $count: 'n' }];
  return () =>
    c
      .aggregate([{ $lookup: { from, let: { at: '$n' }, pipeline, as: 'later' } }, { $match: { n: -1 } }])
      .toArray();
}

suite('ends the connection if the outcome of a command is unknown', async () => {
  await using own = await setup();
  await own.c.insertOne({ _id: 1 });
  const lock = await PostgresConnection.connect(running().postgres);
  const [table] = await sql(
    `SELECT 'documentdb_data.documents_' || collection_id FROM documentdb_api_catalog.collections
     WHERE database_name = 'faults' AND collection_name = '${own.c.collectionName}'`,
  );
  await lock.execute('BEGIN', [], true);
  await lock.execute(`LOCK TABLE ${String(table)} IN ACCESS EXCLUSIVE MODE`, [], true);
  const write = own.c.updateOne({ _id: 1 }, { $set: { a: 1 } });
  const outcome = write.catch((error: unknown) => error);
  await expect.poll(countActive).toBeGreaterThan(0);
  await terminateAll();
  expect(await outcome).toBeInstanceOf(MongoNetworkError);
  await lock.close();
  expect(await own.c.findOne({ _id: 1 })).toEqual({ _id: 1 });
});

suite('continues with new connections after the server dropped idle ones', async () => {
  await using own = await setup();
  await own.c.insertOne({ _id: 1 });
  await terminateAll();
  // The driver repeats a read that met a broken connection.
  expect(await own.c.findOne({ _id: 1 })).toEqual({ _id: 1 });
  expect(await own.c.updateOne({ _id: 1 }, { $set: { a: 1 } })).toMatchObject({ modifiedCount: 1 });
});

suite('cancels the query of a client that has disconnected', async () => {
  await using own = await setup();
  const query = await slowQuery(own.c);
  void query().catch(() => undefined);
  await expect.poll(countActive).toBe(1);
  await own.client.close(true);
  await expect.poll(countActive, { timeout: PATIENCE_MS }).toBe(0);
});

suite('cancels the query of a client that was killed', async () => {
  await using own = await setup();
  await slowQuery(own.c);
  const name = own.c.collectionName;
  const raw = await rawClient(own.socket);
  const pipeline = [{ $match: { $expr: { $gt: ['$n', '$$at'] } } }];
  const lookup = { from: name, let: { at: '$n' }, pipeline, as: 'later' };
  raw.send(
    message({
      aggregate: name,
      pipeline: [{ $lookup: lookup }, { $match: { n: -1 } }],
      cursor: {},
      $db: 'faults',
    }),
  );
  await expect.poll(countActive).toBe(1);
  raw.socket.destroy();
  await expect.poll(countActive, { timeout: PATIENCE_MS }).toBe(0);
});

suite('lets commands wait for a connection, up to a limit', async () => {
  await using own = await setup({ poolSize: 1, poolWaitMs: 200 });
  const query = await slowQuery(own.c);
  void query().catch(() => undefined);
  await expect.poll(countActive).toBe(1);
  const error: unknown = await own.client
    .db('faults')
    .command({ insert: 'other', documents: [{ a: 1 }] })
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(MongoServerError);
  expect(error).toMatchObject({ code: 262, codeName: 'ExceededTimeLimit' });
  // What needs no database is answered all the same.
  expect(await own.client.db('admin').command({ ping: 1 })).toMatchObject({ ok: 1 });
});

suite('reports the database as unavailable if it stays down', async () => {
  await using own = await setup({ postgres: { ...running().postgres, port: 1 }, reconnectMs: 200 });
  expect(await own.client.db('admin').command({ ping: 1 })).toMatchObject({ ok: 1 });
  await expect(own.c.insertOne({ _id: 1 })).rejects.toMatchObject({
    code: 91,
    codeName: 'ShutdownInProgress',
  });
});

/** Passes bytes on to PostgreSQL. */
function relay(): Server {
  const { host, port } = running().postgres;
  return createServer((socket) => {
    const target = createConnection({ path: join(host, `.s.PGSQL.${String(port)}`) });
    for (const end of [socket, target]) end.on('error', () => undefined);
    socket.pipe(target).pipe(socket);
  });
}

suite('waits for a database that starts later', async () => {
  await using folder = testFolder();
  await using own = await setup({ postgres: { ...running().postgres, host: folder.path } });
  const inserted = own.c.insertOne({ _id: 1 });
  await own.client.db('admin').command({ ping: 1 });
  const later = relay();
  const socket = join(folder.path, `.s.PGSQL.${String(running().postgres.port)}`);
  await new Promise<void>((resolve) => later.listen(socket, resolve));
  expect(await inserted).toMatchObject({ acknowledged: true });
  later.close();
});

suite('closes cursors that are no longer read', async () => {
  await using own = await setup({ cursorIdleMs: 200 });
  await own.c.insertMany(Array.from({ length: 100 }, (_, n) => ({ _id: n })));
  const db = own.client.db('faults');
  const { cursor } = await db.command(
    { find: own.c.collectionName, sort: { n: 1 }, batchSize: 2 },
    { promoteLongs: false },
  );
  const open = async () => {
    const { metrics } = await db.command({ serverStatus: 1 });
    return (metrics as { cursor: { open: { total: number } } }).cursor.open.total;
  };
  expect(await open()).toBe(1);
  await expect.poll(open).toBe(0);
  const { id } = cursor as { id: unknown };
  await expect(db.command({ getMore: id, collection: own.c.collectionName })).rejects.toMatchObject({
    code: 43,
  });
});

suite('closes the cursor that was idle longest if there are too many', async () => {
  await using own = await setup({ cursorLimit: 2 });
  await own.c.insertMany(Array.from({ length: 100 }, (_, n) => ({ _id: n })));
  const cursors = [0, 1, 2].map(() => own.c.find({}, { batchSize: 2 }));
  for (const cursor of cursors) await cursor.next();
  const rest = await Promise.allSettled(cursors.map((cursor) => cursor.toArray()));
  expect(rest.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.length : 'closed'))).toEqual([
    'closed',
    99,
    99,
  ]);
});

suite('ends all connections on disposal', async () => {
  const { postgres } = running();
  const socket = freshSocket();
  const gateway = await startGateway({ postgres, socket, poolSize: 2 });
  const client = await rawClient(socket);
  client.send(message({ count: 'none', $db: 'faults' }));
  await client.reply();
  await gateway[Symbol.asyncDispose]();
  await client.closed;
  await expect(rawClient(socket)).rejects.toThrow('ENOENT');
});
