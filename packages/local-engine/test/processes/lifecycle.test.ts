import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import type { EmbeddedEvent } from '../../src/events.ts';
import { PostgresConnection } from '../../src/gateway/postgres/connection.ts';
import { findRunningServices, joinRunningServices } from '../../src/running-services.ts';
import { startEmbeddedServices } from '../../src/services.ts';
import type { EmbeddedOptions } from '../../src/services.ts';
import { waitUntil } from '../../src/process/wait-until.ts';
import { testCacheDir } from '../../../../test/support/engine.ts';
import {
  PATH,
  connectMongo,
  processesNaming,
  remainingProcesses,
  runFixture,
  testFolder,
} from '../integration/support.ts';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';

function optionsFor(dataDir: string, durability: EmbeddedOptions['durability'] = 'fast') {
  return { dataDir, cacheDir: testCacheDir(), durability, path: PATH };
}

const silent = { onEvent: () => undefined };

async function write(uri: string, redisUrl: string): Promise<void> {
  await using mongo = await connectMongo(uri);
  await mongo.client.db('kept').collection<{ _id: string }>('things').insertOne({ _id: 'one' });
  const redis = new Redis(redisUrl);
  await redis.set('kept', 'one');
  await redis.quit();
}

async function readKept(uri: string, redisUrl: string): Promise<readonly unknown[]> {
  await using mongo = await connectMongo(uri);
  const things = await mongo.client.db('kept').collection('things').find().toArray();
  const redis = new Redis(redisUrl);
  const value = await redis.get('kept');
  await redis.quit();
  return [things, value];
}

const WRITTEN = [[{ _id: 'one' }], 'one'];

test('starts both, stores its data below the folder, and leaves no process after disposal', async () => {
  await using folder = testFolder();
  const events: EmbeddedEvent[] = [];
  const services = await startEmbeddedServices({
    ...optionsFor(folder.path),
    onEvent: (event) => events.push(event),
  });
  await write(services.mongodbUri, services.redisUrl);
  expect(processesNaming(folder.path).length).toBeGreaterThanOrEqual(3);
  expect(readdirSync(folder.path)).toEqual(expect.arrayContaining(['documentdb', 'redis', 'postgres.log']));
  expect(events.map((event) => event.step)).toEqual(expect.arrayContaining(['choice', 'start', 'ready']));
  await services[Symbol.asyncDispose]();
  expect(await remainingProcesses(folder.path)).toEqual([]);
  expect(existsSync(join(folder.path, 'embedded.lock'))).toBe(false);
  expect(existsSync(join(folder.path, 'processes.json'))).toBe(false);
  expect(events.filter((event) => event.step === 'exit')).toEqual([]);
  await services[Symbol.asyncDispose](); // Harmless.
});

test('finds earlier data after a restart', async () => {
  await using folder = testFolder();
  {
    await using services = await startEmbeddedServices({ ...optionsFor(folder.path, 'durable'), ...silent });
    await write(services.mongodbUri, services.redisUrl);
  }
  await using again = await startEmbeddedServices({ ...optionsFor(folder.path, 'durable'), ...silent });
  expect(await readKept(again.mongodbUri, again.redisUrl)).toEqual(WRITTEN);
});

/** As a cluster was before each had a password of its own: with that of its template. */
async function resetPostgresPassword(dataDir: string): Promise<void> {
  const template = readFileSync(join(dataDir, 'documentdb/password'), 'utf8').trim();
  await rowsOf(dataDir, `ALTER ROLE postgres PASSWORD '${template}'`);
}

/** The rows of a query of the superuser, as text. */
async function rowsOf(dataDir: string, query: string): Promise<readonly (readonly string[])[]> {
  const password = readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim();
  const at = { host: join(dataDir, 'documentdb/data'), port: 5432, user: 'postgres', database: 'postgres' };
  const client = await PostgresConnection.connect({ ...at, password });
  try {
    return (await client.execute(query, [])).map((row) => row.map(String));
  } finally {
    await client.close();
  }
}

test('configures the engine for its own workers at every start, whatever the folder', async ({ skip }) => {
  await using folder = testFolder();
  const [before, after] = [join(folder.path, 'before'), join(folder.path, 'after')];
  for (const dataDir of [before, after]) {
    if (dataDir === after) renameSync(before, after);
    await using services = await startEmbeddedServices({ ...optionsFor(dataDir), ...silent });
    if (services.mongodbKind !== 'documentdb') skip('another engine is used here');
    expect(await rowsOf(dataDir, 'SELECT DISTINCT nodename, nodeport::text, schedule FROM cron.job')).toEqual(
      [['/proc/self/cwd', '5432', '* * * * *']],
    );
    await using mongo = await connectMongo(services.mongodbUri);
    const things = mongo.client.db('kept').collection('things');
    await things.insertOne({ name: dataDir });
    // On a collection with documents the engine connects to itself.
    await things.createIndex({ name: dataDir === before ? 1 : -1 }, {}, {});
  }
});

test('gives the gateway only the permissions that its databases need', async ({ skip }) => {
  await using folder = testFolder();
  await using services = await startEmbeddedServices({ ...optionsFor(folder.path), ...silent });
  if (services.mongodbKind !== 'documentdb') skip('another engine is used here');
  const powers = 'rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls';
  expect(
    await rowsOf(
      folder.path,
      `SELECT 1 FROM pg_roles WHERE rolname = 'fanfare' AND NOT (${powers.replaceAll(',', ' OR')})`,
    ),
  ).toHaveLength(1);
  const dangerous = ['pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'];
  for (const role of dangerous)
    expect(await rowsOf(folder.path, `SELECT 1 WHERE pg_has_role('fanfare', '${role}', 'MEMBER')`)).toEqual(
      [],
    );
});

/** The address without its user and password. */
function withoutPassword(uri: string): string {
  const address = new URL(uri);
  address.username = '';
  address.password = '';
  return address.toString();
}

test('rejects everyone without the password, which no command line contains', async () => {
  await using folder = testFolder();
  await using services = await startEmbeddedServices({ ...optionsFor(folder.path), ...silent });
  await using mongo = await connectMongo(withoutPassword(services.mongodbUri));
  await expect(mongo.client.db('kept').collection('things').findOne()).rejects.toMatchObject({ code: 13 });
  const redis = new Redis(withoutPassword(services.redisUrl));
  redis.on('error', () => undefined);
  await expect(redis.get('kept')).rejects.toThrow('NOAUTH');
  redis.disconnect();
  const commands = processesNaming(folder.path).join('\n');
  const passwords = [services.mongodbUri, services.redisUrl].map((url) => new URL(url).password);
  for (const password of [...passwords, readFileSync(join(folder.path, 'postgres.password'), 'utf8').trim()])
    expect(commands).not.toContain(password);
});

test('generates new passwords at every start, and different ones for each folder', async () => {
  await using folder = testFolder();
  await using other = testFolder();
  const seen: string[] = [];
  const start = async (path: string) => {
    const services = await startEmbeddedServices({ ...optionsFor(path, 'durable'), ...silent });
    seen.push(new URL(services.mongodbUri).password, new URL(services.redisUrl).password);
    return services;
  };
  {
    await using services = await start(folder.path);
    await write(services.mongodbUri, services.redisUrl);
    if (services.mongodbKind === 'documentdb') await resetPostgresPassword(folder.path);
  }
  // As a folder of a version without passwords.
  rmSync(join(folder.path, 'postgres.password'), { force: true });
  await using again = await start(folder.path);
  await using _other = await start(other.path);
  expect(await readKept(again.mongodbUri, again.redisUrl)).toEqual(WRITTEN);
  expect(new Set(seen).size).toBe(seen.length);
});

test('works in a folder whose path is too long for a socket, and leaves nothing elsewhere', async () => {
  await using folder = testFolder();
  const dataDir = join(folder.path, 'a-very-long-name'.repeat(8));
  const short = (uri: string) => dirname(dirname(dirname(new URL(uri).searchParams.get('path') ?? '')));
  let place: string;
  {
    await using services = await startEmbeddedServices({ ...optionsFor(dataDir, 'durable'), ...silent });
    place = short(services.redisUrl);
    expect(statSync(place).mode & 0o777).toBe(0o700);
    await write(services.mongodbUri, services.redisUrl);
  }
  expect(existsSync(place)).toBe(false);
  await using again = await startEmbeddedServices({ ...optionsFor(dataDir, 'durable'), ...silent });
  expect(await readKept(again.mongodbUri, again.redisUrl)).toEqual(WRITTEN);
});

test('other processes of the user find the services of the folder while they run', async () => {
  await using folder = testFolder();
  expect(findRunningServices(folder.path)).toBeNull();
  {
    await using services = await startEmbeddedServices({ ...optionsFor(folder.path), ...silent });
    const { mongodbUri, mongodbKind, redisUrl, redisKind } = services;
    expect(findRunningServices(folder.path)).toMatchObject({
      ...{ mongodbUri, mongodbKind, redisUrl, redisKind },
      owner: { pid: process.pid },
    });
  }
  expect(findRunningServices(folder.path)).toBeNull();
});

test.each(['is done', 'is killed'])(
  'services that others joined continue when their owner %s, until the last process is gone',
  async (how) => {
    await using folder = testFolder();
    expect(await joinRunningServices(folder.path, silent.onEvent)).toBeNull();
    await using owner =
      how === 'is killed' ? runFixture('owner', [JSON.stringify(optionsFor(folder.path))]) : null;
    await owner?.said('mongodbUri');
    const services =
      owner === null ? await startEmbeddedServices({ ...optionsFor(folder.path), ...silent }) : null;
    const first = await joinRunningServices(folder.path, silent.onEvent);
    const second = await joinRunningServices(folder.path, silent.onEvent);
    if (first === null || second === null) throw new Error('Nothing to join');
    owner?.kill('SIGKILL');
    await owner?.ended;
    await services?.[Symbol.asyncDispose]();
    await write(first.mongodbUri, first.redisUrl);
    await first[Symbol.asyncDispose]();
    await expect(startEmbeddedServices({ ...optionsFor(folder.path), ...silent })).rejects.toMatchObject({
      code: 'DATA_DIR_BUSY',
    });
    expect(await readKept(second.mongodbUri, second.redisUrl)).toEqual(WRITTEN);
    expect(findRunningServices(folder.path)).not.toBeNull();
    await second[Symbol.asyncDispose]();
    expect(await remainingProcesses(folder.path)).toEqual([]);
    expect(findRunningServices(folder.path)).toBeNull();
  },
);

test('rejects a folder in use, naming the process, and accepts it afterwards', async () => {
  await using folder = testFolder();
  {
    await using _services = await startEmbeddedServices({ ...optionsFor(folder.path), ...silent });
    await expect(startEmbeddedServices({ ...optionsFor(folder.path), ...silent })).rejects.toMatchObject({
      code: 'DATA_DIR_BUSY',
      message: expect.stringContaining(`process ${process.pid}`) as string,
    });
  }
  await using again = await startEmbeddedServices({ ...optionsFor(folder.path), ...silent });
  expect(again.mongodbKind).not.toBe('given');
});

test('everything ends when its owner is killed, and no write is lost', async () => {
  await using folder = testFolder();
  await using owner = runFixture('owner', [JSON.stringify(optionsFor(folder.path, 'durable'))]);
  const { mongodbUri = '', redisUrl = '' } = await owner.said('mongodbUri');
  await write(mongodbUri, redisUrl);
  owner.kill('SIGKILL');
  expect(await remainingProcesses(folder.path)).toEqual([]);
  await using again = await startEmbeddedServices({ ...optionsFor(folder.path, 'durable'), ...silent });
  expect(await readKept(again.mongodbUri, again.redisUrl)).toEqual(WRITTEN);
});

test('a start right after the owner was killed waits for processes that are still ending', async () => {
  await using folder = testFolder();
  await using owner = runFixture('owner', [JSON.stringify(optionsFor(folder.path))]);
  const { mongodbUri = '' } = await owner.said('mongodbUri');
  owner.kill('SIGKILL');
  await owner.ended;
  await using again = await startEmbeddedServices({ ...optionsFor(folder.path), ...silent });
  expect(again.mongodbUri).not.toBe(mongodbUri);
});

test("a start before the keeper has noticed the owner's death waits for it", async () => {
  await using folder = testFolder();
  await using owner = runFixture('owner', [JSON.stringify(optionsFor(folder.path))]);
  const { mongodbUri = '' } = await owner.said('mongodbUri');
  const record = readFileSync(join(folder.path, 'processes.json'), 'utf8');
  const { pid } = (JSON.parse(record) as { keeper: { pid: number } }).keeper;
  process.kill(pid, 'SIGSTOP');
  owner.kill('SIGKILL');
  await owner.ended;
  const starting = startEmbeddedServices({ ...optionsFor(folder.path), ...silent });
  process.kill(pid, 'SIGCONT');
  await using again = await starting;
  expect(again.mongodbUri).not.toBe(mongodbUri);
});

test('everything ends when the keeper is killed, and the owner is notified', async () => {
  await using folder = testFolder();
  const events: EmbeddedEvent[] = [];
  await using _services = await startEmbeddedServices({
    ...optionsFor(folder.path),
    onEvent: (event) => events.push(event),
  });
  const record = readFileSync(join(folder.path, 'processes.json'), 'utf8');
  process.kill((JSON.parse(record) as { keeper: { pid: number } }).keeper.pid, 'SIGKILL');
  expect(await remainingProcesses(folder.path)).toEqual([]);
  await waitUntil(() => events.some((event) => event.step === 'lost'), PATIENCE_MS);
  expect(events.filter((event) => event.step === 'lost').length).toBeGreaterThan(0);
});

test('recovers after all processes were killed at once', async () => {
  await using folder = testFolder();
  await using owner = runFixture('owner', [JSON.stringify(optionsFor(folder.path, 'durable'))]);
  const { mongodbUri = '', redisUrl = '' } = await owner.said('mongodbUri');
  await write(mongodbUri, redisUrl);
  for (const found of processesNaming(folder.path)) killIfRunning(Number.parseInt(found));
  await owner.ended;
  await using again = await startEmbeddedServices({ ...optionsFor(folder.path, 'durable'), ...silent });
  expect(await readKept(again.mongodbUri, again.redisUrl)).toEqual(WRITTEN);
});

test('Ctrl-C in the terminal does not reach the databases while their owner runs', async () => {
  await using folder = testFolder();
  await using owner = runFixture('owner', [JSON.stringify(optionsFor(folder.path))]);
  const { mongodbUri = '', redisUrl = '' } = await owner.said('mongodbUri');
  process.kill(-owner.pid, 'SIGINT');
  await owner.said('interrupted');
  await write(mongodbUri, redisUrl);
  expect(await readKept(mongodbUri, redisUrl)).toEqual(WRITTEN);
});

test('a database that exits unexpectedly is reported and restarted at the same socket', async () => {
  await using folder = testFolder();
  const events: EmbeddedEvent[] = [];
  await using services = await startEmbeddedServices({
    ...optionsFor(folder.path),
    onEvent: (event) => events.push(event),
  });
  // A client that connects again would send its command again, too.
  const killer = new Redis(services.redisUrl, { retryStrategy: () => null });
  killer.on('error', () => undefined);
  await killer.call('SHUTDOWN', 'NOSAVE').catch(() => undefined); // The answer is the end of the connection.
  await waitUntil(() => events.some((event) => event.step === 'exit'), PATIENCE_MS);
  expect(events.filter((event) => event.step === 'exit').map((event) => event.message)).toEqual([
    expect.stringMatching(/is started again.*redis\.log/),
  ]);
  const redis = new Redis(services.redisUrl, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  expect(await redis.ping()).toBe('PONG');
  expect(events.filter((event) => event.step === 'recover').map((event) => event.message)).toEqual([
    expect.stringContaining('has been started again'),
  ]);
  redis.disconnect();
});

/** The death of one takes others along: a process that was listed may have ended before its own turn. */
function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
