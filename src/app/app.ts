import { setTimeout } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import type { DemoPerson } from '../http/http-context.ts';
import { checkReadiness, type Probes } from '../http/pages/health.ts';
import type { Tickets } from '../http/identity/tickets.ts';
import { Closer } from '../lib/closer.ts';
import { once } from '../lib/once.ts';
import { syncToAsync } from '../lib/prefetch.ts';
import { createRealtime } from '../live/create-realtime.ts';
import type { GapNotes, LiveLog } from '../live/live-log.ts';
import { checkClock, watchClock } from '../features/operations/clock-watch.ts';
import { createOffers, MOST_OFFER_BYTES } from '../features/ranking/offers.ts';
import { startSampling } from '../features/operations/samples.ts';
import { coreFields } from './features.ts';
import type * as Api from './api.ts';
import type { App } from './command-shapes.ts';
import type { AppGroup } from './fanfare-shapes.ts';
import { createCore } from './core.ts';
import { createHooks, posted } from './hooks.ts';
import { MAX_VIEWS } from '../descriptors/host-views.ts';
import type { Offers } from '../domain/offer.ts';
import { declaredViews } from '../descriptors/registry.ts';
import { acceptStoredIds } from '../descriptors/id-schema.ts';
import { NO_CHECKED_HOOKS, type CheckedHooks } from '../descriptors/host-hooks.ts';
import type { Core, DirectoryAccess } from '../core/core.ts';
import type { Database } from '../storage/database/mongo.ts';
import { createRepositories } from './repositories.ts';
import type { Repositories } from '../storage/repositories.ts';
import {
  logFeedReadWithoutStore,
  logLiveLogTrouble,
  logRedisBack,
  logRedisLost,
  logSampleFailed,
  logIndexesCreated,
  logClockRight,
  logClockSkewed,
  logPresenceTrouble,
  logSourceFailed,
} from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import { onceAMinute } from '../telemetry/once-a-minute.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type RedisPart, type RedisParts, openRedisParts } from '../connections/redis-parts.ts';
import { Windows, type Share } from '../connections/windows.ts';
import type { PublicationQuota, Quotas } from '../core/quotas.ts';
import { randomUUID } from 'node:crypto';
import { startWorkers } from './jobs.ts';
import { clock } from '../lib/clock.ts';
import { ensureIndexes } from '../storage/indexes/indexes.ts';
import { latestVersion, MIGRATIONS } from '../storage/migrations/migration.ts';
import { connectDatabase } from './collections.ts';
import { allIndexes } from './collections.ts';
import { SEEN_EVERY_MS } from '../storage/database/processes.ts';
import { TenancyDiffers } from '../storage/database/schema-version.ts';

const OTHERS_RUN =
  'Another process runs on the database, and only one of the two has TENANT_CLAIM set: ' +
  'stop it first; a process that died stops counting after 90 seconds';

interface PresenceOptions {
  /** Newest schema version this process knows. */
  readonly schema: number;
  readonly isWorker: boolean;
  /** This process stores ids with their tenant. */
  readonly hasTenants: boolean;
  /** The heartbeat failed; it will be retried. */
  readonly onError: (error: unknown) => void;
}

/**
 * Registers this process in the database until disposed, then checks whether its release may work there. The order matters:
 * a migration about to start sees this registration, or this process sees the mark of the migration and stays out. For the
 * same reason, processes with and without tenants never run at the same time.
 * @throws SchemaTooNew, TenancyDiffers
 */
export async function enterInstallation(
  { processes, schemaVersion }: Repositories,
  { schema, isWorker, hasTenants, onError }: PresenceOptions,
): Promise<Presence> {
  const self = { id: randomUUID(), schema, isWorker, hasTenants };
  await processes.purge(clock.now());
  await processes.seen(self, clock.now());
  try {
    if (await processes.isOtherTenancy(hasTenants, clock.now())) throw new TenancyDiffers(OTHERS_RUN);
    await schemaVersion.open(schema, { hasTenants });
  } catch (error) {
    await processes.gone(self.id);
    throw error;
  }
  const gaps = new Set<LiveLog>();
  let saying = Promise.resolve();
  /** One after the other: what is said later holds. */
  const say = (): Promise<void> => {
    const said = saying.then(() => processes.seen({ ...self, hasGap: gaps.size > 0 }, clock.now()));
    saying = said.catch(() => undefined);
    return said;
  };
  const timer = setInterval(() => {
    say().catch(onError);
  }, SEEN_EVERY_MS).unref();
  return {
    async noted(log) {
      if (gaps.has(log)) return saying;
      gaps.add(log);
      return say();
    },
    announced: (log) => void gaps.delete(log),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      // What is said on the way would register this process again.
      await saying;
      // Others announce it when the registration has expired.
      if (gaps.size > 0) return;
      // While the database is away this fails; the registration then expires.
      await processes.gone(self.id).catch(onError);
    },
  };
}

interface Presence extends AsyncDisposable, GapNotes {}

interface PrepareDatabaseOptions {
  readonly isWorker: boolean;
  readonly hasTenants: boolean;
  readonly monitorCommands: boolean;
  readonly traces: boolean;
  /** How long a command that reads may take. Default: as long as any other command. */
  readonly readsWithinMs?: number | undefined;
}

const LEAVES_WITHIN_MS = 1_000;

/** Connects, watches the clocks, registers this process and ensures the indexes. The closer undoes all of it. */
async function prepareDatabase(
  { mongodb }: Config,
  { isWorker, hasTenants, monitorCommands, traces, readsWithinMs }: PrepareDatabaseOptions,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  closer: Closer,
): Promise<{ readonly database: Database; readonly gapNotes: GapNotes }> {
  if (mongodb.uri === undefined) throw new Error('No MongoDB URI: give one or start the embedded engine');
  const database = closer.own(
    await connectDatabase({
      ...{ uri: mongodb.uri, db: mongodb.db },
      ...{ monitorCommands, traces, readsWithinMs },
    }),
  );
  closer.own(
    syncToAsync(
      watchClock({
        skewed: (seconds) => logClockSkewed(logger, { seconds }),
        right: (seconds) => logClockRight(logger, { seconds }),
      }),
    ),
  );
  closer.own(syncToAsync(metrics.watchSkew(() => clock.skew() / 1_000)));
  const presence = await enterInstallation(createRepositories(database.collections), {
    schema: latestVersion(MIGRATIONS),
    isWorker,
    hasTenants,
    onError: (err) => logPresenceTrouble(logger, { err }),
  });
  closer.own(presence, LEAVES_WITHIN_MS);
  const created = await ensureIndexes(database.db, allIndexes({ hasTenants }));
  if (created.length > 0) logIndexesCreated(logger, { indexes: created });
  return { database, gapNotes: presence };
}

const AT_START = 'first';

/** The key prefix lets several installations, and several databases of one, share a Redis. */
async function openRedis(
  { redis: { url, sentinel, prefix }, mongodb }: Config,
  logger: Logger,
  waits: boolean,
): Promise<RedisParts> {
  if (url === undefined) throw new Error('No Redis URL: give one or start the embedded server');
  const lost = new Set<string>();
  const isLost = (what: string, err: unknown): void => {
    // A cluster has many connections, which are lost together: log once.
    if (lost.size === 0) logRedisLost(logger, { err });
    lost.add(what);
  };
  const isBack = (what: string): void => {
    if (lost.delete(what) && lost.size === 0) logRedisBack(logger);
  };
  const parts = await openRedisParts({
    ...{ url, sentinel, prefix: `${prefix}${mongodb.db}:` },
    ...(waits ? { onWaiting: (err) => isLost(AT_START, err) } : {}),
    onLost: (role) => isLost(role, new Error(`The ${role} connection was lost`)),
    onReady: isBack,
  });
  isBack(AT_START);
  return parts;
}

export interface AppParts {
  readonly api: boolean;
  readonly worker: boolean;
  /** Whether to listen on METRICS_PORT. */
  readonly metrics?: boolean;
  readonly traces?: boolean;
  /** Wait for Redis when it cannot be reached at start. Default: fail. */
  readonly waitsForRedis?: boolean;
}

export interface AppDependencies {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly pageToken?: string | undefined;
  readonly demoPeople?: (() => Promise<readonly DemoPerson[]>) | undefined;
  /** The group that this process belongs to, if any: answers /ready and /metrics for all its processes. */
  readonly group?: AppGroup | undefined;
  readonly monitorCommands?: boolean;
  /** Questions to the host before something is recorded. Default: nothing. */
  readonly hooks?: CheckedHooks;
}

/** Builds a process from its configuration. If a part fails, closes the parts built so far and throws. */
export async function createApp(
  config: Config,
  parts: AppParts,
  dependencies: AppDependencies,
): Promise<App> {
  const closer = new Closer();
  try {
    return await build(config, parts, dependencies, closer);
  } catch (error) {
    await closer.close();
    throw error;
  }
}

async function build(config: Config, parts: AppParts, given: AppDependencies, closer: Closer): Promise<App> {
  const { logger, metrics, group, monitorCommands, pageToken, demoPeople } = given;
  const hasTenants = config.auth.tenantClaim !== undefined;
  const { database, gapNotes } = await prepareDatabase(
    config,
    {
      ...{ isWorker: parts.worker, hasTenants },
      ...{ monitorCommands: monitorCommands ?? false, traces: parts.traces ?? false },
      // Some of what workers count in the background takes as long as it takes.
      readsWithinMs: parts.worker ? undefined : config.http.maxReadMs,
    },
    { logger, metrics },
    closer,
  );
  if (hasTenants) acceptStoredIds();
  const redis = closer.own(await openRedis(config, logger, parts.waitsForRedis === true));
  const core = await openCore(config, parts, { database, redis, gapNotes }, { ...given, closer });
  if (parts.worker) closer.own(startWorkers(config, core, logger, metrics), WORKERS_CLOSE_WITHIN_MS);
  const openFanOuts = async (): Promise<number> => {
    const open = await core.actions.openFanOuts();
    return (open.PENDING ?? 0) + (open.IN_PROGRESS ?? 0);
  };
  metrics.feedModelChosen({ model: config.feeds.model, cap: config.feeds.cap });
  watchFigures(core, parts.worker ? openFanOuts : null, { ...given, closer });
  const probes: Probes = {
    database: () => database.writes.check(),
    clock: () => checkClock(),
    redis: () => Promise.all([redis.ping(), core.liveLog.check()]),
  };
  const apiParts = {
    ...{ core, database, redis, pageToken, demoPeople, probes, logger, readiness: group?.readiness },
    metrics: group === undefined ? metrics : { ...metrics, metrics: group.metrics },
  };
  const http = parts.api ? closer.own(await (await loadApi()).openApi(config, apiParts)) : null;
  const { port: metricsPort, token } = config.metrics;
  if (parts.metrics === true && metricsPort !== undefined) {
    const { startMetricsServer } = await import('../http/pages/metrics-server.ts');
    closer.own(
      await startMetricsServer({
        ...{ host: config.http.host, port: metricsPort, token, metrics, logger },
        readiness: () => checkReadiness(probes),
      }),
    );
  }
  // The order matters: a fan-out may request a rebuild.
  const isIdle = async (): Promise<boolean> =>
    (await openFanOuts()) === 0 &&
    (await core.feedRebuilds.countDue()) === 0 &&
    (await core.renames.countDue()) === 0;
  const idle = async (): Promise<void> => {
    for (let pauseMs = IDLE_POLL_MS.first; !(await isIdle()); pauseMs *= 2)
      await setTimeout(Math.min(pauseMs, IDLE_POLL_MS.longest));
  };
  const close = (): Promise<void> => closer.close();
  return {
    core,
    forgetDeleted: core.forgetDeleted,
    url: http?.url ?? null,
    database,
    http,
    readiness: () => checkReadiness(probes),
    openFanOuts,
    openRebuilds: () => core.feedRebuilds.countDue(),
    idle,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function openCore(
  config: Config,
  { api }: AppParts,
  {
    database,
    redis,
    gapNotes,
  }: { readonly database: Database; readonly redis: RedisParts; readonly gapNotes: GapNotes },
  { logger, metrics, hooks, closer }: AppDependencies & { readonly closer: Closer },
): Promise<Core> {
  return createCore({
    database,
    redis: redis.parts,
    feeds: config.feeds,
    cacheBytes: config.cacheBytes,
    sealsCursors: config.auth.tenantClaim !== undefined,
    ...(api ? { quotas: quotasOf(config, redis), directory: directoryOf(config, redis) } : {}),
    hooks: createHooks(hooks ?? NO_CHECKED_HOOKS, config, logger, closer),
    offers: offersOf(logger, metrics, closer),
    reportHideAfter: config.safety.reportHideAfter,
    fields: coreFields(config),
    recordsEvents: config.events.retentionMs !== null,
    digestAfterMs: config.events.digests?.afterMs ?? null,
    realtime: ({ erasures }) => {
      const realtime = createRealtime(
        { ...config.live, gapNotes, endedAmong: (openedAt) => erasures.erasedAmong(openedAt) },
        redis,
        (what, err) => logLiveLogTrouble(logger, { what, err }),
      );
      for (const part of Object.values(realtime)) closer.own(part);
      return realtime;
    },
    tickets: (repositories) => ticketsOf(config, repositories),
    onLiveLogError: (err) => logLiveLogTrouble(logger, { err }),
    onStoreUnavailable: (err) => {
      metrics.feedReadWithoutStore();
      logFeedReadWithoutStore(logger, { err });
    },
    onPublished: (count) => metrics.actionsPublished(count),
    onFeedRead: (view) => metrics.feedRead(view),
    onShown: (view, count) => metrics.itemsShown(view, count),
  });
}

/** What the hosts of views with a source answer. */
function offersOf(logger: Logger, metrics: Metrics, closer: Closer): Offers {
  const isNew = onceAMinute(MAX_VIEWS);
  return createOffers({
    hostOf(name) {
      const source = declaredViews().find((view) => view.name === name)?.source ?? null;
      return (
        source &&
        posted('source', source, { timeoutMs: source.timeoutMs, mostBytes: MOST_OFFER_BYTES }, closer)
      );
    },
    onAnswer(view, err) {
      metrics.sourceAnswered(view, err === null ? 'answered' : 'failed');
      if (err !== null && isNew(view)) logSourceFailed(logger, { view, err });
    },
  });
}

function watchFigures(
  { samples, actions, workFigures, actionCache, nameCache }: Core,
  pending: (() => Promise<number>) | null,
  { metrics, logger, closer }: AppDependencies & { readonly closer: Closer },
): void {
  for (const watched of [
    metrics.watchPending(() => actions.pendingByLane()),
    metrics.watchErasures(() => workFigures.openErasures()),
    metrics.watchReadCache('actions', () => actionCache.lookups),
    metrics.watchReadCache('names', () => nameCache.lookups),
  ])
    closer.own(syncToAsync(watched));
  if (samples === null) return;
  const onError = (err: unknown): void => logSampleFailed(logger, { err });
  closer.own(startSampling({ samples, totals: metrics.totals, pending, onError }));
}

/** Loaded on demand: GraphQL and HTTP make up most of a process's start-up time. */
const loadApi = (): Promise<typeof Api> => import('./api.ts');

/** While the database is away, leases cannot be released; they expire instead. */
const WORKERS_CLOSE_WITHIN_MS = 3_000;
/** Backs off, so that polling does not slow down the work being waited for. */
const IDLE_POLL_MS = { first: 10, longest: 80 };

/**
 * Without JWT_SECRET the installation keeps a generated secret in the database, shared by all processes. What signs and verifies is
 * loaded on demand: most commands have no use for it.
 */
function ticketsOf({ auth: { jwtSecret } }: Config, { secrets }: Repositories): Tickets {
  const open = once(async () => {
    const { createTickets, ticketKeyOf } = await import('../http/identity/tickets.ts');
    if (jwtSecret === undefined) return createTickets(once(() => secrets.shared('tickets')));
    const key = ticketKeyOf(jwtSecret);
    return createTickets(() => Promise.resolve(key));
  });
  return {
    sign: async (identity) => (await open()).sign(identity),
    read: async (ticket, header) => (await open()).read(ticket, header),
  };
}

function quotasOf({ tenants }: Config, { parts }: RedisParts): Quotas {
  const { members, publications } = tenants;
  if (publications === null) return { members, publications };
  const share = { points: publications.points, seconds: publications.perMs / 1_000 };
  return { members, publications: publicationQuota(share, parts) };
}

function directoryOf({ directory }: Config, { parts }: RedisParts): DirectoryAccess {
  const isOpen = directory.search === 'members';
  if (directory.limit === null) return { isOpen };
  const { points, perMs } = directory.limit;
  const windows = new Windows('searches', { points, seconds: perMs / 1_000 }, parts);
  return {
    isOpen,
    async takeSearch(userId) {
      const taken = await windows.take({ key: userId, holder: null, points: 1, isPartial: false });
      return taken.granted === 0 ? taken.msLeft : null;
    },
  };
}

/** Rejected publications and replays are given back. */
export function publicationQuota(share: Share, parts?: readonly RedisPart[]): PublicationQuota {
  const windows = new Windows('publications', share, parts);
  return {
    take: (tenant, holder, points) => windows.take({ key: tenant, holder, points, isPartial: true }),
  };
}
