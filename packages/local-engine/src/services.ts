import type { Addresses, MongodbKind, RedisKind } from './addresses.ts';
import type { OnEmbeddedEvent } from './events.ts';
import { openHost } from './host.ts';
import type { Host, HostOptions } from './host.ts';
import { chooseMongo } from './mongo/choose-mongo.ts';
import { startDocumentDb } from './mongo/documentdb.ts';
import { startMongod } from './mongo/mongod.ts';
import { chooseRedis } from './redis/choose-redis.ts';
import { startRedis } from './redis/redis-server.ts';
import type { RedisControl } from './redis/redis-server.ts';
import { noteRunningServices } from './running-services.ts';

export interface EmbeddedOptions {
  /** If given it is used and nothing else, also when it does not answer. */
  readonly mongodbUri?: string;
  /** If given it is used and nothing else, also when it does not answer. */
  readonly redisUrl?: string;
  /** Absolute. The services' data and logs; one process at a time can use it. Untouched when both URLs are given. */
  readonly dataDir: string;
  /** Absolute. What is fetched once for all; several processes may use it at a time. */
  readonly cacheDir: string;
  /** `durable` survives a power cut; `fast` does not sync to disk and keeps nothing in Redis, for tests. */
  readonly durability: 'durable' | 'fast';
  readonly onEvent: OnEmbeddedEvent;
  /** PATH to search for programs. Default: Debian's for root. */
  readonly path?: string;
}

/** The databases in use. Disposing stops those that were started here, and waits until their processes are gone. */
export interface EmbeddedServices extends Addresses, AsyncDisposable {}

/** A local engine alone. */
export interface MongoServer extends AsyncDisposable {
  readonly uri: string;
  readonly kind: Exclude<MongodbKind, 'given'>;
}

/** A local Redis alone, which can be killed and brought back on the same socket. */
export interface RedisServer extends RedisControl, AsyncDisposable {
  readonly kind: Exclude<RedisKind, 'given'>;
}

/**
 * Makes sure there are a MongoDB and a Redis: the given ones, else local ones, started side by side. The local ones
 * end with this process however it ends. Fails with an EmbeddedError whose message says what to do.
 */
export async function startEmbeddedServices(options: EmbeddedOptions): Promise<EmbeddedServices> {
  const { mongodbUri, redisUrl } = options;
  const given = (what: string) => {
    options.onEvent({ step: 'choice', message: `${what}: the given address` });
  };
  if (mongodbUri !== undefined) given('MongoDB');
  if (redisUrl !== undefined) given('Redis');
  if (mongodbUri !== undefined && redisUrl !== undefined) {
    const nothing = () => Promise.resolve();
    return { mongodbUri, mongodbKind: 'given', redisUrl, redisKind: 'given', [Symbol.asyncDispose]: nothing };
  }
  return inHost(options, async (host) => {
    const [mongo, redis] = await bothOrNeither<
      { uri: string; kind: MongodbKind },
      { url: string; kind: RedisKind }
    >(
      mongodbUri === undefined ? runMongo(host) : Promise.resolve({ uri: mongodbUri, kind: 'given' }),
      redisUrl === undefined ? runRedis(host) : Promise.resolve({ url: redisUrl, kind: 'given' }),
    );
    const { uri, kind } = mongo;
    const services = { mongodbUri: uri, mongodbKind: kind, redisUrl: redis.url, redisKind: redis.kind };
    noteRunningServices(options.dataDir, services, host.launch.keeper.pid);
    return services;
  });
}

/** Starts a local engine alone. Options and failures are those of `startEmbeddedServices`. */
export function startMongo(options: HostOptions): Promise<MongoServer> {
  return inHost(options, runMongo);
}

/** Starts a local Redis alone. Options and failures are those of `startEmbeddedServices`. */
export function startRedisServer(options: HostOptions): Promise<RedisServer> {
  return inHost(options, async (host) => {
    const { control, kind } = await runRedis(host);
    return Object.assign(control, { kind });
  });
}

async function runMongo({ launch, tree, cacheDir }: Host) {
  const { dataDir, path, onEvent } = launch;
  const choice = await chooseMongo({ dataDir, cacheDir, path, tree, onEvent });
  const name = choice.kind === 'mongod' ? `mongod (${choice.binary})` : 'DocumentDB';
  onEvent({ step: 'choice', message: `MongoDB: local ${name}; ${choice.reason}` });
  const uri =
    choice.kind === 'mongod'
      ? await startMongod(launch, choice.binary)
      : await startDocumentDb(launch, choice.tree);
  onEvent({ step: 'ready', message: `The local ${choice.kind} is ready` });
  return { uri, kind: choice.kind };
}

async function runRedis(host: Host) {
  const { path, onEvent } = host.launch;
  const choice = await chooseRedis({ path, tree: host.tree });
  onEvent({ step: 'choice', message: `Redis: local ${choice.kind} (${choice.binary}); ${choice.reason}` });
  const control = await startRedis(host.launch, choice);
  onEvent({ step: 'ready', message: `The local ${choice.kind} is ready` });
  return { control, url: control.url, kind: choice.kind };
}

/** Adds the host's disposal to what `work` gives back; if `work` fails, the host is disposed at once. */
async function inHost<T extends object>(
  options: HostOptions,
  work: (host: Host) => Promise<T>,
): Promise<T & AsyncDisposable> {
  const host = await openHost(options);
  try {
    const result = await work(host);
    return Object.assign(result, { [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() });
  } catch (error) {
    await host[Symbol.asyncDispose]();
    throw error;
  }
}

/** Waits for both to settle before the first failure is passed on, so that nothing goes on behind the caller's back. */
async function bothOrNeither<A, B>(a: Promise<A>, b: Promise<B>): Promise<readonly [A, B]> {
  await Promise.allSettled([a, b]);
  return [await a, await b];
}
