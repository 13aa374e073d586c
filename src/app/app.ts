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
import type { Core } from '../services/core.ts';
import type { Database } from '../storage/database/mongo.ts';
import type { Repositories } from '../storage/repositories.ts';
import { logFeedReadWithoutStore, logLiveLogTrouble } from '../telemetry/events/databases.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Everything that runs in one process, closed as one. */
export interface App extends AsyncDisposable {
  /** What use cases take. */
  readonly core: Core;
  /** Base URL of the API; `null` without an API. */
  readonly url: string | null;
  readonly database: Database;
  /** Removes what was deleted from the files of local databases, too. */
  readonly forgetDeleted: () => Promise<void>;
  readonly http: HttpServer | null;
  readiness(): Promise<Readiness>;
  /** Number of actions whose fan-out is pending or in progress, across all processes. */
  openFanOuts(): Promise<number>;
  /** Number of feeds with a pending or running rebuild, across all processes. */
  openRebuilds(): Promise<number>;
  /** Resolves when no fan-out, rebuild or rename is pending or in progress in any process. */
  idle(): Promise<void>;
  /** Closes the API first, then the workers, then the connections. Idempotent. */
  close(): Promise<void>;
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
  if (parts.worker) closer.own(startWorkers(config, core, logger, metrics), WORKERS_CLOSE_WITHIN_MS);
  metrics.feedModelChosen({ model: config.feeds.model, cap: config.feeds.cap });
  const openFanOuts = async (): Promise<number> => {
    const open = await core.actions.openFanOuts();
    return (open.PENDING ?? 0) + (open.IN_PROGRESS ?? 0);
  };
  for (const watched of [
    metrics.watchPending(() => core.actions.pendingByLane()),
    metrics.watchErasures(() => core.workFigures.openErasures()),
    metrics.watchReadCache('actions', () => core.actionCache.lookups),
    metrics.watchReadCache('names', () => core.nameCache.lookups),
  ])
    closer.own(syncToAsync(watched));
  const probes: Probes = {
    database: () => database.writes.check(),
    clock: () => checkClock(),
    ...(redis === null ? {} : { redis: () => redis.ping() }),
  };
  const apiParts = {
    core,
    sessionEnds: core.sessionEnds,
    database,
    redis,
    pageToken,
    demoPeople,
    probes,
  };
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
      await startMetricsServer({
        ...{ host: config.http.host, port: metricsPort, token, metrics, logger },
        readiness: () => checkReadiness(probes),
      }),
    );
  // The order matters: a fan-out may request a rebuild.
  const isIdle = async (): Promise<boolean> =>
    (await openFanOuts()) === 0 &&
    (await core.feeds.countDue()) === 0 &&
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
    openRebuilds: () => core.feeds.countDue(),
    idle,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Loaded on demand: GraphQL and HTTP make up most of a process's start-up time. */
const loadApi = (): Promise<typeof Api> => import('./api.ts');

/** While the database is away, leases cannot be released; they expire instead. */
const WORKERS_CLOSE_WITHIN_MS = 3_000;
/** Backs off, so that polling does not slow down the work being waited for. */
const IDLE_POLL_MS = { first: 10, longest: 80 };

/** Without JWT_SECRET the installation keeps a generated secret in the database, shared by all processes. */
function ticketKey({ auth }: Config, { secrets }: Repositories): () => Promise<Uint8Array> {
  const { jwtSecret } = auth;
  if (jwtSecret === undefined) return once(() => secrets.shared('tickets'));
  const key = ticketKeyOf(jwtSecret);
  return () => Promise.resolve(key);
}
