import { setTimeout } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import type { DemoPerson } from '../http/pages/console.ts';
import { checkReadiness, type Probes, type Readiness } from '../http/pages/health.ts';
import { startMetricsServer } from '../http/pages/metrics-server.ts';
import type { HttpServer } from '../http/server.ts';
import { createTickets, ticketKeyOf } from '../http/identity/tickets.ts';
import { Closer } from '../lib/closer.ts';
import { once } from '../lib/once.ts';
import { syncToAsync } from '../lib/sync-to-async.ts';
import { createRealtime } from '../realtime/create-realtime.ts';
import { checkClock } from '../services/clock-watch.ts';
import type * as Api from './api.ts';
import type { AppGroup } from './group-and-steps.ts';
import { createCore } from './core.ts';
import { prepareDatabase } from './prepare-database.ts';
import { openRedis } from './open-redis.ts';
import { quotasOf } from './quotas.ts';
import { startWorkers } from './workers.ts';
import { acceptStoredIds } from '../descriptors/id-schema.ts';
import type { Services } from '../services/create-services.ts';
import type { Database } from '../storage/database/mongo.ts';
import type { Repositories } from '../storage/repositories.ts';
import { logFeedReadWithoutStore, logLiveLogTrouble } from '../telemetry/events/databases.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Everything that runs in one process, as one thing that can be closed. */
export interface App extends AsyncDisposable {
  readonly services: Services;
  /** Where the API answers; null without one. */
  readonly url: string | null;
  readonly database: Database;
  readonly http: HttpServer | null;
  readiness(): Promise<Readiness>;
  /** Actions whose fan-out is pending or in progress, in any process. */
  openFanOuts(): Promise<number>;
  /** Feeds that are due for a rebuild or being rebuilt, in any process. */
  openRebuilds(): Promise<number>;
  /** Resolves when no fan-out, rebuild of a feed or rename is pending or in progress, in any process. */
  idle(): Promise<void>;
  /** Idempotent: API first, then worker, then connections. */
  close(): Promise<void>;
}

export interface AppParts {
  readonly api: boolean;
  readonly worker: boolean;
  /** Whether METRICS_PORT is listened on. */
  readonly metrics?: boolean;
  readonly traces?: boolean;
  /** Where Redis cannot be reached at the start, it is waited for. Default: the start fails. */
  readonly waitsForRedis?: boolean;
}

export interface AppDependencies {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly pageToken?: string | undefined;
  readonly demoPeople?: (() => Promise<readonly DemoPerson[]>) | undefined;
  /** Of all processes that serve as one, where this is one of several: what /ready and /metrics answer. */
  readonly group?: AppGroup | undefined;
  readonly monitorCommands?: boolean;
}

/** Builds a process as configured. Where a part cannot be built, what was built is closed and it throws. */
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

async function build(
  config: Config,
  parts: AppParts,
  { logger, metrics, group, monitorCommands, pageToken, demoPeople }: AppDependencies,
  closer: Closer,
): Promise<App> {
  const hasTenants = config.auth.tenantClaim !== undefined;
  const database = await prepareDatabase(
    config,
    {
      ...{ isWorker: parts.worker, hasTenants },
      ...{ monitorCommands: monitorCommands ?? false, traces: parts.traces ?? false },
    },
    { logger, metrics },
    closer,
  );
  if (hasTenants) acceptStoredIds();
  const redis = await openRedis(config, logger, parts.waitsForRedis === true);
  if (redis !== null) closer.own(redis);
  const core = await createCore({
    database,
    redis: redis?.parts ?? [],
    feeds: config.feeds,
    cacheBytes: config.cacheBytes,
    hasTenants,
    ...(parts.api ? { quotas: quotasOf(config, redis) } : {}),
    recordsEvents: config.events.retentionMs !== null,
    digestAfterMs: config.events.digests?.afterMs ?? null,
    realtime: ({ erasures }) => {
      const realtime = createRealtime(
        { ...config.live, endedAmong: (openedAt) => erasures.erasedAmong(openedAt) },
        redis,
        (what, err) => {
          logLiveLogTrouble(logger, { what, err });
        },
      );
      for (const part of Object.values(realtime)) closer.own(part);
      return realtime;
    },
    tickets: (repositories) => createTickets(ticketKey(config, repositories)),
    observer: {
      liveLogFailed: (err) => {
        logLiveLogTrouble(logger, { err });
      },
      storeUnavailable: (err) => {
        metrics.feedReadWithoutStore();
        logFeedReadWithoutStore(logger, { err });
      },
      published: (count) => {
        metrics.actionsPublished(count);
      },
    },
  });
  const { repositories, services, sessionEnds } = core;
  if (parts.worker) closer.own(startWorkers(config, core, logger, metrics), WORKERS_CLOSE_WITHIN_MS);
  metrics.feedModelChosen({ model: config.feeds.model, cap: config.feeds.cap });
  const openFanOuts = async (): Promise<number> => {
    const open = await repositories.actions.openFanOuts();
    return (open.PENDING ?? 0) + (open.IN_PROGRESS ?? 0);
  };
  for (const watched of [
    metrics.watchPending(() => repositories.actions.pendingByLane()),
    metrics.watchErasures(() => repositories.workFigures.openErasures()),
    metrics.watchReadCache('actions', () => repositories.actionCache.lookups),
    metrics.watchReadCache('names', () => repositories.nameCache.lookups),
  ])
    closer.own(syncToAsync(watched));
  const probes: Probes = {
    database: () => database.writes.check(),
    clock: () => checkClock(),
    ...(redis === null ? {} : { redis: () => redis.ping() }),
  };
  const apiParts = { services, sessionEnds, database, redis, pageToken, demoPeople, probes };
  const http = parts.api
    ? closer.own(
        await (
          await loadApi()
        ).openApi(
          config,
          { ...apiParts, readiness: group?.readiness },
          logger,
          group === undefined ? metrics : { ...metrics, metrics: group.metrics },
        ),
      )
    : null;
  const { port: metricsPort, token } = config.metrics;
  if (parts.metrics === true && metricsPort !== undefined)
    closer.own(
      await startMetricsServer({ host: config.http.host, port: metricsPort, token, metrics, logger }),
    );
  // In this order: a fan-out may leave a feed to be rebuilt.
  const isIdle = async (): Promise<boolean> =>
    (await openFanOuts()) === 0 &&
    (await repositories.feeds.countDue()) === 0 &&
    (await repositories.renames.countDue()) === 0;
  const idle = async (): Promise<void> => {
    for (let pauseMs = IDLE_POLL_MS.first; !(await isIdle()); pauseMs *= 2)
      await setTimeout(Math.min(pauseMs, IDLE_POLL_MS.longest));
  };
  const close = (): Promise<void> => closer.close();
  return {
    services,
    url: http?.url ?? null,
    database,
    http,
    readiness: () => checkReadiness(probes),
    openFanOuts,
    openRebuilds: () => repositories.feeds.countDue(),
    idle,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Loaded only where it is served: GraphQL and HTTP are most of what a process has to load at its start. */
const loadApi = (): Promise<typeof Api> => import('./api.ts');

/** With the database away a lease cannot be handed back; it then expires. */
const WORKERS_CLOSE_WITHIN_MS = 3_000;
/** Asking all the time would take the database's time from the work that is waited for. */
const IDLE_POLL_MS = { first: 10, longest: 80 };

/** Without a secret of its own the installation keeps one in the database, where every process finds it. */
function ticketKey({ auth }: Config, { secrets }: Pick<Repositories, 'secrets'>): () => Promise<Uint8Array> {
  const { jwtSecret } = auth;
  if (jwtSecret === undefined) return once(() => secrets.shared('tickets'));
  const key = ticketKeyOf(jwtSecret);
  return () => Promise.resolve(key);
}
