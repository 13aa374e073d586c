import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { inject } from 'vitest';
import { createCore } from '../../src/app/core.ts';
import { DEFAULT_REACTIONS } from '../../src/domain/interaction.ts';
import type { Offers } from '../../src/domain/offer.ts';
import { DEFAULT_RANKING } from '../../src/domain/ranking.ts';
import { DEFAULT_WEIGHTS } from '../../src/domain/relevancy.ts';
import type { Identity, Role } from '../../src/domain/viewer.ts';
import {
  FanOutWorker,
  type FanOutObserver,
  type FanOutWorkerOptions,
} from '../../src/fan-out/fan-out-worker.ts';
import type { Core } from '../../src/core/core.ts';
import { rescoring } from '../../src/features/ranking/jobs/rescoring.ts';
import type { JobRunner } from '../../src/jobs/job.ts';
import { rebuilds } from '../../src/features/rebuild/jobs/rebuilds.ts';
import type { FeedStore } from '../../src/feed/feed-store.ts';
import { createTickets } from '../../src/http/identity/tickets.ts';
import { openSession } from '../../src/feed/session/open-session.ts';
import { Closer } from '../../src/lib/closer.ts';
import { MemoryLiveLog, MemorySessionEnds } from './memory-live-log.ts';
import { OwnWorker } from '../../src/fan-out/own-worker.ts';
import { MemoryWorkSignal } from '../../src/live/work-signal.ts';
import type { Realtime } from '../../src/live/create-realtime.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import type { PublishActionInput } from '../../src/core/shapes.ts';
import { dormancy } from '../../src/fan-out/audience.ts';
import { connectRedis } from '../../src/connections/redis.ts';
import { connectDatabase } from '../../src/app/collections.ts';
import type { Database } from '../../src/storage/database/mongo.ts';
import { runnerOf, type TestJobSetup } from './jobs.ts';
import { servicesOf, type Services } from './services.ts';
import { borrowDatabase, openShared, returnDatabase } from './spare-databases.ts';
import { uniqueName } from './unique-name.ts';

export interface Parts extends AsyncDisposable {
  readonly database: Database;
  /** The same as `core`, for a test that looks at what is stored. */
  readonly repositories: Core;
  readonly feedStore: FeedStore;
  /** Of every model that may hold a feed, in use or not. */
  readonly feedStores: readonly FeedStore[];
  readonly services: Services;
  /** What use cases and workers take; a failure to tell watchers fails the test. */
  readonly core: Core;
  /** What tells watchers. */
  readonly live: Pick<Core, 'liveLog' | 'onLiveLogError'>;
  readonly service: Identity;
  readonly admin: Identity;
  session(userId: string, ...roles: Role[]): ReaderSession;
  /** Publishes as the service. */
  publish(input: Partial<PublishActionInput>): ReturnType<Services['publishAction']>;
  worker(options?: Partial<FanOutWorkerOptions>, parts?: Partial<Core & FanOutWorkerOptions>): FanOutWorker;
  rebuildWorker(core?: Partial<Core>, setup?: TestJobSetup): JobRunner;
  /** Makes the scores of one generation, the latest at that time. */
  rescore(now?: Date): Promise<void>;
  /** Resolves when every fan-out is done or failed. */
  idle(): Promise<void>;
  /** Runs a worker until every fan-out is done or failed. */
  fanOut(): Promise<void>;
  /** The same database as another process would open it. To be closed before these parts. */
  reopen(options?: PartsOptions): Promise<Parts>;
  /** Ids of the actions in a reader's feed, in order. */
  feedOf(userId: string): Promise<string[]>;
}

export const silentObserver: FanOutObserver = {
  finished: () => undefined,
  overtaken: () => undefined,
  leaseLost: () => undefined,
  failed: () => undefined,
  batchFailed: () => undefined,
  claimFailed: () => undefined,
};

export interface PartsOptions {
  readonly monitorCommands?: boolean;
  /** Whether it is kept what readers were shown. Default: no. */
  readonly keepsImpressions?: boolean;
  /** Whether what happens is recorded for hosts. Default: no. */
  readonly recordsEvents?: boolean;
  /** What a host offers in views. Default: it does not answer. */
  readonly offers?: Offers;
  /** What parts put into the core by their settings. Default: nothing. */
  readonly fields?: object;
  /** Entries that are stored per feed. Default: more than any test has. */
  readonly cap?: number;
  readonly dormantAfterMs?: number;
  /** Default: who has never read is delivered to. */
  readonly neverReadAfterMs?: number;
  /** Name of the feed model. Default: `items`. */
  readonly model?: string;
  /** How long it is gone by what was read of the refs that are pulled. Default: where commands are counted, as long as the test takes. */
  readonly pullRefreshMs?: number;
  /** What it may hold of what it has read; 0: nothing. */
  readonly cacheBytes?: number;
  /** As if the router of a sharded database answered. */
  readonly isSharded?: boolean;
  /** Stores what is there before anything looks. */
  readonly store?: (database: Database) => Promise<void>;
  /** Instead of those in memory; they stay the caller's. */
  readonly realtime?: Pick<Realtime, 'liveLog' | 'sessionEnds'>;
}

const NO_CAP = 1_000_000;
/** Asking all the time would take the engine's time from the worker that is waited for. */
const IDLE_POLL_MS = { first: 20, longest: 80 };
/** Workers are woken where there is work; they look for what falls due. */
const POLL_MS = 100;
const DORMANT_AFTER_MS = 7 * 86_400_000;
/** No test takes so long. */
const NEVER_MS = 86_400_000;

/** The rooms below the API on the real engine, in a database of their own, with nothing running on its own. */
export async function openParts(options: PartsOptions = {}): Promise<Parts> {
  return openOn(await borrowDatabase(), options, returnDatabase);
}

async function openOn(
  db: string,
  options: PartsOptions,
  giveBack: (database: Database) => Promise<void>,
): Promise<Parts> {
  // Commands are counted by connection.
  const database =
    options.monitorCommands === true
      ? await connectDatabase({ uri: inject('mongodbUri'), db, monitorCommands: true })
      : await openShared(db);
  await options.store?.(database);
  const closer = new Closer();
  const model = options.model ?? 'items';
  const dormantAfterMs = options.dormantAfterMs ?? DORMANT_AFTER_MS;
  const cap = options.cap ?? NO_CAP;
  const redis = model === 'redis' ? await connectRedis({ url: inject('redisUrl') }) : null;
  const fail = (error: unknown): never => {
    throw error;
  };
  const core = await createCore({
    database: { ...database, isSharded: options.isSharded ?? database.isSharded },
    redis: redis === null ? [] : [{ ...redis, prefix: `test:${db}:${uniqueName('feeds')}:` }],
    feeds: {
      model,
      cap,
      dormantAfterMs,
      relevancyWeights: DEFAULT_WEIGHTS,
      ranking: DEFAULT_RANKING,
      reactions: DEFAULT_REACTIONS,
      impressions: options.keepsImpressions ?? false,
    },
    realtime: () => ({
      workSignal: closer.own(new MemoryWorkSignal()),
      ...(options.realtime ?? {
        liveLog: closer.own(new MemoryLiveLog()),
        sessionEnds: new MemorySessionEnds(),
      }),
    }),
    tickets: () => createTickets(() => Promise.resolve(randomBytes(32))),
    ...{ onLiveLogError: fail, onStoreUnavailable: fail, onPublished: () => undefined },
    ...{ onFeedRead: () => undefined, onShown: () => undefined },
    pullRefreshMs: options.pullRefreshMs ?? (options.monitorCommands === true ? NEVER_MS : undefined),
    cacheBytes: options.cacheBytes,
    recordsEvents: options.recordsEvents ?? false,
    ...(options.offers && { offers: options.offers }),
    ...(options.fields === undefined ? {} : { fields: options.fields }),
  });
  const { feedStore, feedStores } = core;
  const services = servicesOf(core);
  await core.pulledRefs.known();
  const identity = (userId: string, ...roles: Role[]): Identity => ({
    userId,
    roles: new Set<Role>(roles.length === 0 ? ['user'] : roles),
    expiresAt: null,
  });
  const session = (userId: string, ...roles: Role[]): ReaderSession =>
    openSession(core, identity(userId, ...roles));
  const service = identity('service', 'service');
  const worker: Parts['worker'] = (workerOptions, parts) =>
    new FanOutWorker(
      // As of another process.
      { ...core, ownWorker: new OwnWorker(), ...parts },
      {
        workerId: uniqueName('worker'),
        leaseMs: 30_000,
        maxAttempts: 3,
        concurrency: 2,
        pollMs: POLL_MS,
        chunkSize: 100,
        skipDormant: dormancy(core, { dormantAfterMs, neverReadAfterMs: options.neverReadAfterMs ?? null }),
        observer: silentObserver,
        ...workerOptions,
        ...parts,
      },
    );
  const rebuildWorker: Parts['rebuildWorker'] = (changes, setup) =>
    runnerOf(rebuilds, { ...core, ...changes }, { every: POLL_MS, ...setup });
  const rescore: Parts['rescore'] = async (now = new Date()) => {
    await runnerOf(rescoring, core).round(now);
  };
  const isIdle = async (): Promise<boolean> => {
    // In this order: a fan-out may leave a feed to be rebuilt.
    const open = await core.actions.openFanOuts();
    return (open.PENDING ?? 0) + (open.IN_PROGRESS ?? 0) === 0 && (await core.feedRebuilds.countDue()) === 0;
  };
  const idle = async (): Promise<void> => {
    for (let pauseMs = IDLE_POLL_MS.first; !(await isIdle()); pauseMs *= 2)
      await setTimeout(Math.min(pauseMs, IDLE_POLL_MS.longest));
  };
  return {
    database,
    repositories: core,
    feedStore,
    feedStores,
    services,
    core,
    live: core,
    service,
    admin: identity('admin', 'admin'),
    session,
    worker,
    rebuildWorker,
    rescore,
    reopen: (others = {}) => openOn(db, others, () => Promise.resolve()),
    idle,
    publish: (input) =>
      services.publishAction(service, {
        actorId: 'actor',
        descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'post-1' } },
        ...input,
      }),
    async fanOut() {
      if (await isIdle()) return;
      await using running = worker();
      await using rebuilding = rebuildWorker();
      running.start();
      rebuilding.start();
      await idle();
    },
    async feedOf(userId) {
      const ids: string[] = [];
      let after: string | null = null;
      for (;;) {
        const page: Awaited<ReturnType<Services['readFeed']>> = await services.readFeed(session(userId), {
          first: 100,
          after,
        });
        ids.push(...page.edges.map((edge) => edge.node.actionId));
        if (!page.hasMore) return ids;
        after = page.end;
      }
    },
    async [Symbol.asyncDispose]() {
      await closer.close();
      await redis?.close();
      await giveBack(database);
      await database.close();
    },
  };
}
