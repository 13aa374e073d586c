import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedServices, joinRunningServices } from '@fanfare/local-engine';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/env.ts';
import { redact } from '../lib/redact.ts';
import { isLocalEngineError, loadLocalEngine } from './local-engine.ts';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { doubtsOf } from '../config/doubts.ts';
import { logDoubtfulSetting } from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface Databases extends EmbeddedServices {
  /** Pid of the process that runs the local databases; `null` when they are external or run by this process. */
  readonly sharedBy: number | null;
}

/** Progress of preparing the databases at start. */
export interface StartStep {
  /** `exit`: a local database ended unexpectedly; `lost`: it is not started again. Other names say what is being done. */
  readonly step: string;
  /** One sentence for people. */
  readonly message: string;
  /** Progress from 0 to 1, when known. */
  readonly fraction?: number;
}

export interface StartSteps {
  readonly onEvent: (event: StartStep) => void;
}

/** Time limit for another process to start the databases of the folder before they count as not shared. */
const STARTS_WITHIN_MS = 60_000;
const ASK_EVERY_MS = 200;

/** Databases to use: the configured ones, else those already running on DATA_DIR, else new local ones. */
export async function startDatabases(
  { env }: { readonly env: Environment },
  config: Config,
  steps: StartSteps,
): Promise<Databases> {
  const { mongodb, redis, dataDir } = config;
  if (mongodb.uri !== undefined && redis.url !== undefined)
    return givenDatabases({ mongodbUri: mongodb.uri, redisUrl: redis.url }, steps);
  const engine = await loadLocalEngine();
  const start = () =>
    engine.startEmbeddedServices({
      ...(mongodb.uri === undefined ? {} : { mongodbUri: mongodb.uri }),
      ...(redis.url === undefined ? {} : { redisUrl: redis.url }),
      ...(env['PATH'] === undefined ? {} : { path: env['PATH'] }),
      dataDir,
      cacheDir: config.cacheDir,
      durability: 'durable',
      onEvent: steps.onEvent,
    });
  const join = () => engine.joinRunningServices(dataDir, steps.onEvent);
  const running = await join();
  if (running !== null) return shareOf(config, running);
  try {
    return ownDatabases(await start());
  } catch (error) {
    if (!(isLocalEngineError(error) && error.code === 'DATA_DIR_BUSY')) throw error;
    steps.onEvent({ step: 'wait', message: `Another process is starting the databases in ${dataDir}` });
    const started = await servicesWithin(join);
    if (started === null) throw error;
    return shareOf(config, started);
  }
}

type Running = NonNullable<Awaited<ReturnType<typeof joinRunningServices>>>;

function givenDatabases(
  addresses: { readonly mongodbUri: string; readonly redisUrl: string },
  { onEvent }: StartSteps,
): Databases {
  for (const what of ['MongoDB', 'Redis']) onEvent({ step: 'choice', message: `${what}: the given address` });
  return {
    ...addresses,
    mongodbKind: 'given',
    redisKind: 'given',
    sharedBy: null,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function ownDatabases(services: EmbeddedServices): Databases {
  return Object.assign(services, { sharedBy: null });
}

/** A configured address takes precedence over that of the other process. */
function shareOf({ mongodb, redis }: Config, running: Running): Databases {
  return {
    mongodbUri: mongodb.uri ?? running.mongodbUri,
    mongodbKind: mongodb.uri === undefined ? running.mongodbKind : 'given',
    redisUrl: redis.url ?? running.redisUrl,
    redisKind: redis.url === undefined ? running.redisKind : 'given',
    sharedBy: running.owner.pid,
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

export function withAddresses(config: Config, databases: Databases): Config {
  return Object.freeze({
    ...config,
    mongodb: Object.freeze({ ...config.mongodb, uri: databases.mongodbUri }),
    redis: Object.freeze({ ...config.redis, url: databases.redisUrl }),
  });
}

async function servicesWithin(join: () => Promise<Running | null>): Promise<Running | null> {
  for (const deadline = performance.now() + STARTS_WITHIN_MS; performance.now() < deadline;) {
    const running = await join();
    if (running !== null) return running;
    await delay(ASK_EVERY_MS);
  }
  return null;
}

export function describeDatabases(databases: Databases, { dataDir }: Config): string {
  const { mongodbKind, mongodbUri, redisKind, redisUrl, sharedBy } = databases;
  const place = (kind: string, address: string) => (kind === 'given' ? redact(address) : `local ${kind}`);
  const isLocal = mongodbKind !== 'given' || redisKind !== 'given';
  const whose = sharedBy === null ? '' : `, those of process ${String(sharedBy)}`;
  return `${place(mongodbKind, mongodbUri)}, ${place(redisKind, redisUrl)}${isLocal ? `, data in ${dataDir}` : ''}${whose}`;
}

/** Checks what is known before the databases are started, which may take a while. Rejects when a port is taken. */
export async function checkBeforeStart(
  env: Environment,
  config: Config,
  { api, metrics }: { readonly api: boolean; readonly metrics?: boolean },
  logger: Logger,
): Promise<void> {
  for (const { name, message } of doubtsOf(env, config, api))
    logDoubtfulSetting(logger, { setting: name, because: `it ${message}` });
  const { host, port } = config.http;
  const { port: metricsPort } = config.metrics;
  if (api) await tryPort(host, port);
  if (metrics && metricsPort !== undefined)
    await tryPort(host, metricsPort).catch((cause: unknown) => {
      throw new Error(`METRICS_PORT=${String(metricsPort)} cannot be used`, { cause });
    });
}

/** Rejects as listening would. */
async function tryPort(host: string, port: number): Promise<void> {
  const server = createServer().listen({ host, port, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
