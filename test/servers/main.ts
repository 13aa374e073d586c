// Runs a command beside servers that it starts with Docker, and stops afterwards:
//   npm run test:servers -- --mongodb mongo:8.0 --topology sharded --redis valkey/valkey:8.1 -- npx vitest run test/e2e/story
// With --dry it prints what it would start, and runs the command beside a local engine and Redis, by the same settings.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MongoClient, type Document } from 'mongodb';
import { startEmbeddedServices } from '../../packages/local-engine/src/services.ts';
import { testCacheDir } from '../support/engine.ts';

const HOST = '127.0.0.1';
const REDIS_PORTS = [27_201, 27_202, 27_203];
const MONGOS_PORT = 27_100;

interface Wanted {
  readonly mongodb: string;
  readonly topology: string;
  readonly redis: string;
  readonly isRedisCluster: boolean;
}

interface Servers extends AsyncDisposable {
  readonly mongodbUri: string;
  readonly redisUrl: string;
}

/** Sets of `mongod` that know each other, by name, and the ports of their members. */
const SETS: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  'replica-set': { rs0: [27_101, 27_102, 27_103] },
  sharded: { config: [27_111], shard1: [27_112], shard2: [27_113] },
};

function setsOf({ topology }: Wanted): [name: string, ports: readonly number[]][] {
  const sets = SETS[topology];
  if (sets === undefined)
    throw new Error(`There is no topology ${topology}, only ${Object.keys(SETS).join()}`);
  return Object.entries(sets);
}

/** Arguments of `docker run`, of each server. */
function containersOf(wanted: Wanted): string[][] {
  const { mongodb, redis, isRedisCluster } = wanted;
  const mongods = setsOf(wanted).flatMap(([name, ports]) => {
    const role = name === 'config' ? ['--configsvr'] : name.startsWith('shard') ? ['--shardsvr'] : [];
    return ports.map((port) => [
      mongodb,
      'mongod',
      '--replSet',
      name,
      ...role,
      '--port',
      String(port),
      '--bind_ip',
      HOST,
    ]);
  });
  const config = `config/${HOST}:27111`;
  const router = [mongodb, 'mongos', '--configdb', config, '--port', String(MONGOS_PORT), '--bind_ip', HOST];
  const program = redis.startsWith('valkey') ? 'valkey-server' : 'redis-server';
  const redises = REDIS_PORTS.slice(0, isRedisCluster ? 3 : 1).map((port) => [
    ...[redis, program, '--port', String(port), '--save', ''],
    ...(isRedisCluster ? ['--cluster-enabled', 'yes'] : []),
  ]);
  return [...mongods, ...(wanted.topology === 'sharded' ? [router] : []), ...redises];
}

const docker = (...args: readonly string[]): string =>
  execFileSync('docker', args, { encoding: 'utf8' }).trim();

async function startContainers(wanted: Wanted): Promise<Servers> {
  const ids = containersOf(wanted).map((args) => docker('run', '--detach', '--network', 'host', ...args));
  const stop = (): Promise<void> => {
    docker('rm', '--force', '--volumes', ...ids);
    return Promise.resolve();
  };
  try {
    for (const [name, ports] of setsOf(wanted)) await initiate(name, ports);
    const [set, [port]] = setsOf(wanted)[0] ?? ['', []];
    if (wanted.topology === 'sharded')
      for (const [name, [port]] of setsOf(wanted).slice(1))
        await retried(() => command(MONGOS_PORT, { addShard: `${name}/${HOST}:${String(port)}` }));
    if (wanted.isRedisCluster) {
      const nodes = REDIS_PORTS.map((port) => `${HOST}:${String(port)}`);
      const client = wanted.redis.startsWith('valkey') ? 'valkey-cli' : 'redis-cli';
      docker('exec', ids.at(-1) ?? '', client, '--cluster', 'create', ...nodes, '--cluster-yes');
    }
    return {
      mongodbUri:
        wanted.topology === 'sharded'
          ? `mongodb://${HOST}:${String(MONGOS_PORT)}/`
          : `mongodb://${HOST}:${String(port)}/?replicaSet=${set}`,
      redisUrl: `redis://${REDIS_PORTS.slice(0, wanted.isRedisCluster ? 3 : 1)
        .map((port) => `${HOST}:${String(port)}`)
        .join()}`,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function initiate(name: string, ports: readonly number[]): Promise<void> {
  const [port = 0] = ports;
  // The first is the primary while it can be: tests with a wire of their own connect to it alone.
  const members = ports.map((each, _id) => ({
    _id,
    host: `${HOST}:${String(each)}`,
    priority: _id === 0 ? 2 : 1,
  }));
  const isConfig = name === 'config' ? { configsvr: true } : {};
  await retried(() => command(port, { replSetInitiate: { _id: name, ...isConfig, members } }));
  await retried(async () => {
    const { isWritablePrimary } = await command(port, { hello: 1 });
    if (isWritablePrimary !== true) throw new Error(`${name} has no primary yet`);
  });
}

async function command(port: number, asked: Document): Promise<Document> {
  const client = new MongoClient(
    `mongodb://${HOST}:${String(port)}/?directConnection=true&serverSelectionTimeoutMS=1000`,
  );
  try {
    return await client.db('admin').command(asked);
  } finally {
    await client.close();
  }
}

/** A container takes a while to listen. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (tries === 60) throw error;
      await setTimeout(1_000);
    }
}

async function startLocalEngine(wanted: Wanted): Promise<Servers> {
  for (const args of containersOf(wanted))
    console.log(`docker run --detach --network host ${args.join(' ')}`);
  const dataDir = mkdtempSync(join(tmpdir(), 'fanfare-servers-'));
  const { PATH: path = '' } = process.env;
  const services = await startEmbeddedServices({
    ...{ dataDir, path, cacheDir: testCacheDir(), durability: 'fast', onEvent: () => undefined },
  });
  return {
    ...services,
    async [Symbol.asyncDispose]() {
      await services[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Moves chunks of sharded collections to and fro for as long as the command runs. */
async function moveChunks(until: AbortSignal): Promise<void> {
  const client = await MongoClient.connect(`mongodb://${HOST}:${String(MONGOS_PORT)}/`);
  const [chunks, collections] = [
    client.db('config').collection('chunks'),
    client.db('config').collection('collections'),
  ];
  let [moved, refused] = [0, 0];
  while (!until.aborted) {
    for await (const { _id: ns, uuid } of collections.find({
      _id: /^(?:test|spare)/,
      unsplittable: { $ne: true },
    })) {
      const chunk = await chunks.findOne({ uuid: uuid as unknown });
      if (chunk === null) continue;
      const toShard = chunk['shard'] === 'shard1' ? 'shard2' : 'shard1';
      // Some are gone meanwhile, and some are locked.
      await client
        .db('admin')
        .command({ moveRange: ns, min: chunk['min'] as unknown, toShard })
        .then(
          () => (moved += 1),
          () => (refused += 1),
        );
    }
    await setTimeout(500);
  }
  await client.close();
  console.log(`Chunks moved: ${String(moved)}, not moved: ${String(refused)}`);
}

/** The primary gives its office away for ten seconds, every half a minute, for as long as the command runs. */
async function stepDown(uri: string, until: AbortSignal): Promise<void> {
  const client = await MongoClient.connect(uri);
  let times = 0;
  const isOver = (): boolean => until.aborted;
  while (!isOver()) {
    await setTimeout(30_000, undefined, { signal: until }).catch(() => undefined);
    if (isOver()) break;
    await client.db('admin').command({ replSetStepDown: 10 });
    times += 1;
  }
  await client.close();
  console.log(`The primary has stepped down ${String(times)} times`);
}

function run(
  [program = 'true', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (code) => {
      resolve(code ?? 1);
    });
  });
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    mongodb: { type: 'string', default: 'mongo:8.0' },
    topology: { type: 'string', default: 'replica-set' },
    redis: { type: 'string', default: 'valkey/valkey:8.1' },
    'redis-cluster': { type: 'boolean', default: false },
    'step-down': { type: 'boolean', default: false },
    dry: { type: 'boolean', default: false },
  },
});
const wanted: Wanted = {
  ...{ mongodb: values.mongodb, topology: values.topology, redis: values.redis },
  isRedisCluster: values['redis-cluster'],
};
await using servers = await (values.dry ? startLocalEngine(wanted) : startContainers(wanted));
const ended = new AbortController();
const beside = values.dry
  ? Promise.resolve()
  : wanted.topology === 'sharded'
    ? moveChunks(ended.signal)
    : values['step-down']
      ? stepDown(servers.mongodbUri, ended.signal)
      : Promise.resolve();
process.exitCode = await run(positionals, {
  FANFARE_TEST_MONGODB_URI: servers.mongodbUri,
  FANFARE_TEST_REDIS_URL: servers.redisUrl,
});
ended.abort();
await beside;
