import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PostgresConnection, type PostgresAddress } from '../../../src/gateway/postgres/connection.ts';
import {
  ConnectionLost,
  PoolTimeout,
  StatementError,
  Unreachable,
} from '../../../src/gateway/postgres/errors.ts';
import { Pool, type PoolOptions } from '../../../src/gateway/postgres/pool.ts';
import { testFolder } from '../support.ts';
import { hasEngine, ownEngine, type OwnEngine } from './own-engine.ts';

const suite = test.skipIf(!hasEngine);
let engine: OwnEngine | undefined;

beforeAll(async () => {
  if (hasEngine) engine = await ownEngine();
});

afterAll(async () => {
  await engine?.[Symbol.asyncDispose]();
});

function address(): PostgresAddress {
  if (engine === undefined) throw new Error('No engine');
  return engine.postgres;
}

async function connection(): Promise<{ pg: PostgresConnection } & AsyncDisposable> {
  const pg = await PostgresConnection.connect(address());
  return { pg, [Symbol.asyncDispose]: () => pg.close() };
}

function pool(options: Partial<PoolOptions> = {}): { pool: Pool } & AsyncDisposable {
  const made = new Pool({
    address: address(),
    size: 2,
    waitMs: 5_000,
    reconnectMs: 5_000,
    settings: {},
    ...options,
  });
  return { pool: made, [Symbol.asyncDispose]: () => made.close() };
}

async function terminate(pid: string): Promise<void> {
  await using other = await connection();
  await other.pg.execute('SELECT pg_terminate_backend($1::int)', [pid]);
}

const ownPid = 'SELECT pg_backend_pid()::text';

async function pidOf(pg: PostgresConnection): Promise<string> {
  const rows = await pg.execute(ownPid, []);
  return String(rows[0]?.[0]);
}

suite('returns columns in binary form, and null for NULL', async () => {
  await using own = await connection();
  const sql = 'SELECT $1::bytea, $2::text, 258::int8, true, NULL::text';
  const [row] = await own.pg.execute(sql, [Buffer.from([0, 255]), 'äß']);
  expect(row?.map((column) => column?.toString('hex') ?? null)).toEqual([
    '00ff',
    Buffer.from('äß').toString('hex'),
    '0000000000000102',
    '01',
    null,
  ]);
});

suite('sends NULL for null, and accepts a query without parameters', async () => {
  await using own = await connection();
  const [row] = await own.pg.execute('SELECT $1::bytea IS NULL', [null]);
  expect(row?.[0]?.[0]).toBe(1);
  expect(await own.pg.execute('SELECT 1 WHERE false', [])).toEqual([]);
});

suite('sends and receives values larger than network buffers', async () => {
  await using own = await connection();
  const big = Buffer.alloc(30_000_000, 'abc');
  const [row] = await own.pg.execute('SELECT $1::bytea, $2::text', [big, 'behind']);
  expect(row?.[0]?.equals(big)).toBe(true);
  expect(row?.[1]?.toString()).toBe('behind');
});

suite('receives many rows, complete and in order', async () => {
  await using own = await connection();
  const rows = await own.pg.execute('SELECT n::text FROM generate_series(1, 100000) n', []);
  expect(rows).toHaveLength(100_000);
  expect(rows.every(([column], index) => column?.toString() === String(index + 1))).toBe(true);
});

suite('separates pipelined statements if one of them fails', async () => {
  await using own = await connection();
  const divide = 'SELECT (10 / $1::int)::text';
  const results = await Promise.allSettled(
    ['1', '0', '2', 'x', '5'].map((by) => own.pg.execute(divide, [by])),
  );
  expect(
    results.map((result) => (result.status === 'fulfilled' ? result.value[0]?.[0]?.toString() : 'failed')),
  ).toEqual(['10', 'failed', '5', 'failed', '2']);
  expect(results[1]).toMatchObject({ reason: { name: 'StatementError', sqlstate: '22012' } });
  expect(results[3]).toMatchObject({ reason: { name: 'StatementError', sqlstate: '22P02' } });
});

suite('parses a statement again after its first parse failed', async () => {
  await using own = await connection();
  const sql = 'SELECT count(*)::text FROM later';
  await expect(own.pg.execute(sql, [])).rejects.toMatchObject({ sqlstate: '42P01' });
  await own.pg.execute('CREATE TEMP TABLE later (a int)', [], true);
  expect(String((await own.pg.execute(sql, []))[0]?.[0])).toBe('0');
  expect(String((await own.pg.execute(sql, []))[0]?.[0])).toBe('0');
});

suite('keeps one prepared statement per text, and none for one-off statements', async () => {
  await using own = await connection();
  for (let n = 0; n < 5; n += 1) await own.pg.execute('SELECT $1::text', [String(n)]);
  for (let n = 0; n < 5; n += 1) await own.pg.execute(`SELECT ${String(n)}`, [], true);
  const [row] = await own.pg.execute('SELECT count(*)::text FROM pg_prepared_statements', []);
  expect(row?.[0]?.toString()).toBe('2');
});

suite('rejects statements in progress and all later ones when the connection breaks', async () => {
  const pg = await PostgresConnection.connect(address());
  const pid = await pidOf(pg);
  const sleeping = pg.execute('SELECT pg_sleep(60)', []);
  const behind = pg.execute('SELECT 1', []);
  await Promise.all([
    expect(sleeping).rejects.toThrow(ConnectionLost),
    expect(behind).rejects.toThrow(ConnectionLost),
    terminate(pid),
  ]);
  await pg.closed;
  expect(pg.isAlive).toBe(false);
  await expect(pg.execute('SELECT 1', [])).rejects.toThrow(ConnectionLost);
});

suite('cancels the running statement, and continues', async () => {
  await using own = await connection();
  const sleeping = own.pg.execute('SELECT pg_sleep(60)', []);
  // The request may come before the statement has begun, and is then without effect.
  const again = setInterval(() => void own.pg.cancel(), 50);
  await expect(sleeping).rejects.toMatchObject({ sqlstate: '57014' });
  clearInterval(again);
  await expect
    .poll(() =>
      own.pg.execute('SELECT 1', []).then(
        (rows) => rows.length,
        () => 0,
      ),
    )
    .toBe(1);
});

suite('rejects a wrong and a missing password, and a socket without a server', async () => {
  const { host, port, user, database } = address();
  const wrong = PostgresConnection.connect({ ...address(), password: 'wrong' });
  await expect(wrong).rejects.toMatchObject({ name: 'StatementError', sqlstate: '28P01' });
  const none = PostgresConnection.connect({ host, port, user, database });
  await expect(none).rejects.toThrow('asks for a password');
  await expect(PostgresConnection.connect({ ...address(), port: 1 })).rejects.toThrow(ConnectionLost);
});

/** A server at a socket that answers whatever it is sent with the next of the messages; gives back what it was sent. */
async function pretender(folder: string, answers: readonly Buffer[]) {
  const received: Buffer[] = [];
  const rest = [...answers];
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (bytes: Buffer) => {
        received.push(bytes);
        socket.write(rest.shift() ?? Buffer.alloc(0));
      });
  });
  await new Promise<void>((resolve) => server.listen(join(folder, '.s.PGSQL.1'), resolve));
  return { received, [Symbol.dispose]: () => void server.close() };
}

/** The server's message that asks for an authentication of that kind. */
function asksFor(kind: number, data = ''): Buffer {
  const message = Buffer.alloc(9 + data.length);
  message.write('R');
  message.writeInt32BE(message.length - 1, 1);
  message.writeInt32BE(kind, 5);
  message.write(data, 9);
  return message;
}

const READY = Buffer.from('Z\0\0\0\u0005I');
const IS_IN = Buffer.concat([asksFor(0), READY]);
const SCRAM = asksFor(10, 'SCRAM-SHA-256\0\0');

test.for([
  ['asks for the password itself', [asksFor(3)]],
  ['asks for its MD5', [asksFor(5, 'salt')]],
  ['lets everybody in', [IS_IN]],
  ['lets in without a proof of its own', [SCRAM, IS_IN]],
] as const)('reveals nothing to a server that %s', async ([, answers]) => {
  await using folder = testFolder();
  using server = await pretender(folder.path, answers);
  const address = { host: folder.path, port: 1, user: 'u', database: 'd', password: 'p4ssw0rd' };
  await expect(PostgresConnection.connect(address)).rejects.toThrow(/prove|does not know/);
  const digest = createHash('md5').update('p4ssw0rdu').digest('hex');
  const sent = Buffer.concat(server.received).toString('latin1');
  expect(sent).not.toMatch(new RegExp(`p4ssw0rd|md5|${digest}`));
});

suite('sets session parameters', async () => {
  const pg = await PostgresConnection.connect(address(), { options: '-c statement_timeout=50' });
  await expect(pg.execute('SELECT pg_sleep(60)', [])).rejects.toThrow(StatementError);
  await pg.close();
});

suite('serves waiting work in order of arrival', async () => {
  await using own = pool({ size: 1 });
  const order: number[] = [];
  const work = (n: number) =>
    own.pool.use(async (pg) => {
      await pg.execute('SELECT 1', []);
      order.push(n);
    });
  await Promise.all([0, 1, 2, 3, 4].map(work));
  expect(order).toEqual([0, 1, 2, 3, 4]);
});

suite('opens a limited number of connections, and reuses them', async () => {
  await using own = pool({ size: 2 });
  const pids = await Promise.all(Array.from({ length: 20 }, () => own.pool.use(pidOf)));
  expect(new Set(pids).size).toBe(2);
});

suite('rejects work that waited too long', async () => {
  await using own = pool({ size: 1, waitMs: 50 });
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holder = own.pool.use(() => held);
  await expect(own.pool.use(() => Promise.resolve())).rejects.toThrow(PoolTimeout);
  release();
  await holder;
  await own.pool.use(() => Promise.resolve());
});

suite('replaces a broken connection, in use or idle', async () => {
  await using own = pool({ size: 1 });
  const broken = own.pool.use(async (pg) => {
    const pid = await pidOf(pg);
    await Promise.all([pg.execute('SELECT pg_sleep(60)', []), terminate(pid)]);
  });
  const waiting = own.pool.use(pidOf);
  await expect(broken).rejects.toThrow(ConnectionLost);
  const second = await waiting;
  await terminate(second);
  await expect.poll(() => own.pool.use(pidOf).catch(() => second)).not.toBe(second);
});

suite('reports an unavailable server to all waiting work', async () => {
  await using own = pool({ size: 1, reconnectMs: 100, address: { ...address(), port: 1 } });
  const tries = [own.pool.use(pidOf), own.pool.use(pidOf), own.pool.use(pidOf)];
  for (const attempt of await Promise.allSettled(tries)) {
    expect(attempt).toMatchObject({ status: 'rejected', reason: expect.any(Unreachable) as unknown });
  }
});

suite('rejects waiting work when it is closed', async () => {
  const own = pool({ size: 1 });
  const holder = own.pool.use((pg) => pg.execute('SELECT pg_sleep(60)', []));
  const waiting = own.pool.use(pidOf);
  const outcomes = Promise.allSettled([holder, waiting]);
  await own[Symbol.asyncDispose]();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(own.pool.use(pidOf)).rejects.toThrow(ConnectionLost);
});
