import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { MongoClient, type Db } from 'mongodb';
import { startEmbeddedServices, type EmbeddedServices } from '@fanfare/local-engine';
import { Closer } from '../../src/lib/closer.ts';

/** The databases that everything is measured on, Fanfare, peer and limits alike. */
export type Environment = Awaited<ReturnType<typeof openEnvironment>>;

/** Starts the engine and the Redis as `npm start` does, durable, in a folder of their own. */
export async function openEnvironment(profileDir: string | null, say: (line: string) => void) {
  const closer = new Closer();
  const folder = mkdtempSync(join(tmpdir(), 'fanfare-bench-'));
  closer.own({
    [Symbol.asyncDispose]: () => {
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  });
  try {
    const { PATH: path, XDG_CACHE_HOME: cache } = process.env;
    const services = closer.own(
      await startEmbeddedServices({
        dataDir: join(folder, 'data'),
        cacheDir: join(cache?.startsWith('/') === true ? cache : join(homedir(), '.cache'), 'fanfare'),
        durability: 'durable',
        onEvent: ({ step, message, fraction }) => {
          if (step !== 'ready' && (fraction === undefined || fraction >= 1)) say(message);
        },
        ...(path === undefined ? {} : { path }),
      }),
    );
    const driver = await MongoClient.connect(services.mongodbUri, { ignoreUndefined: true });
    closer.own({ [Symbol.asyncDispose]: () => driver.close() });
    const redis = new Redis(services.redisUrl);
    closer.own({
      [Symbol.asyncDispose]: () => {
        redis.disconnect();
        return Promise.resolve();
      },
    });
    return {
      mongodbUri: services.mongodbUri,
      redisUrl: services.redisUrl,
      /** The same Redis by a port of this machine, for older checkouts, which know no sockets of files. */
      redisPortUrl: await listenAtPort(redis, services.redisUrl),
      /** The plain driver, for limits and for loading data. */
      driver,
      redis,
      /** A folder that goes when the run ends. */
      folder,
      /** Where CPU profiles of the processes of Fanfare go, one for each thread; null: none are made. */
      profileDir,
      engineVersion: async () => {
        const info: Readonly<Record<string, unknown>> = await driver.db('admin').admin().buildInfo();
        return `${services.mongodbKind} ${String(info['version'])}`;
      },
      redisVersion: async () => {
        const [, version = 'unknown'] = /_version:([\d.]+)/.exec(await redis.info('server')) ?? [];
        return `${services.redisKind} ${version}`;
      },
      /** What a power cut would cost: read from the running databases. */
      durability: () => describeDurability(services, redis, join(folder, 'data')),
      [Symbol.asyncDispose]: () => closer.close(),
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}

/** Has the Redis listen at a free port of this machine as well. @returns its URL, with the password of the other. */
async function listenAtPort(redis: Redis, redisUrl: string): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  await redis.config('SET', 'bind', '127.0.0.1');
  await redis.config('SET', 'port', String(port));
  const { username, password } = new URL(redisUrl);
  return `redis://${username}${password === '' ? '' : `:${password}@`}127.0.0.1:${String(port)}`;
}

/** @throws Error when a database would lose what it has acknowledged: then nothing measured here would count. */
async function describeDurability(
  { mongodbKind }: EmbeddedServices,
  redis: Redis,
  dataDir: string,
): Promise<string> {
  const engine =
    mongodbKind === 'documentdb' ? postgresDurability(dataDir) : 'mongod with its journal, as it comes';
  const setting = async (name: string): Promise<string> => (await redis.config('GET', name))[1] ?? '';
  const [appendOnly, fsync] = [await setting('appendonly'), await setting('appendfsync')];
  if (appendOnly !== 'yes')
    throw new Error('The Redis of the benchmark keeps nothing: its figures would not count');
  return `${engine}; Redis appendonly ${appendOnly}, appendfsync ${fsync}`;
}

function postgresDurability(dataDir: string): string {
  const path = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith('postgresql.conf'),
  );
  if (path === undefined) throw new Error(`No postgresql.conf below ${dataDir}`);
  const settings = readFileSync(join(dataDir, path), 'utf8');
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes'])
    if (new RegExp(`^${name} = 'off'`, 'm').test(settings))
      throw new Error(`The engine of the benchmark runs with ${name} off: its figures would not count`);
  return 'PostgreSQL with fsync, synchronous_commit and full_page_writes on';
}

/** A database that is dropped with what else the closer has. */
export function ownDatabase({ driver }: Environment, closer: Closer, name: string): Db {
  const db = driver.db(name);
  closer.own({
    [Symbol.asyncDispose]: async () => {
      await db.dropDatabase();
    },
  });
  return db;
}
