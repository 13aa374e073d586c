import type { MongoClient } from 'mongodb';
import { BROUGHT } from '../../src/app/brought.ts';
import { createCore } from '../../src/app/core.ts';
import { CORE_COLLECTIONS } from '../../src/app/features.ts';
import { startWorkers } from '../../src/app/jobs.ts';
import type { Config } from '../../src/config/config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Core } from '../../src/core/core.ts';
import type { Identity, Role } from '../../src/domain/viewer.ts';
import { openSession } from '../../src/feed/session/open-session.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import { clock } from '../../src/lib/clock.ts';
import { MemoryWorkSignal } from '../../src/live/work-signal.ts';
import { keepTime } from '../../src/storage/database/database-time.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { silentLogger, type Logger, type LogFields } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { servicesOf, type Services } from '../support/services.ts';
import { SharedLiveLog, SharedSessionEnds, type StoreLink } from './live-log.ts';

// All of this, and what it imports, is loaded once for each simulated process. See bundle.ts.

/** Durations are in milliseconds. */
export interface Times {
  /** The longest lease of a worker. */
  readonly leaseMs: number;
  /** How often it looks for work. */
  readonly pollMs: number;
  /** Entries that a stored feed keeps. */
  readonly feedCap: number;
}

export interface ProcessLinks {
  readonly client: MongoClient;
  readonly live: StoreLink;
  readonly times: Times;
  /** What is logged as a warning or an error. */
  readonly complained: (message: string, error: unknown) => void;
}

export interface ProcessParts {
  readonly core: Core;
  readonly services: Services;
  /** What background work has been under way for an action or a reader. */
  session(userId: string, ...roles: Role[]): ReaderSession;
  identity(userId: string, ...roles: Role[]): Identity;
  startWorkers(): AsyncDisposable;
  now(): number;
}

const HEARTBEAT_MS = 10_000;

/** The settings of all processes. Chunks are small, so that little work has many steps. */
export const SETTINGS: Readonly<Record<string, string>> = {
  FAN_OUT_CHUNK: '3',
  FAN_OUT_ATTEMPTS: '50',
  EVENT_RETENTION: '7d',
  REPORT_HIDE_AFTER: '2',
};

/** Opens a process, with a background worker or not yet. */
export async function openProcess({ client, live, times, complained }: ProcessLinks): Promise<ProcessParts> {
  keepTime(client, clock);
  await greet(client);
  setInterval(() => {
    greet(client).catch(() => undefined);
  }, HEARTBEAT_MS);
  const settings = {
    ...SETTINGS,
    FAN_OUT_LEASE: `${String(times.leaseMs)}ms`,
    POLL_INTERVAL: `${String(times.pollMs)}ms`,
    FEED_CAP: String(times.feedCap),
  };
  const config: Config = readConfig(settings, { ...BROUGHT, needsKey: false });
  const database = openDatabase(client.db('simulation'), {
    isSharded: false,
    close: () => Promise.resolve(),
    declarations: CORE_COLLECTIONS,
  });
  const onError = (what: string) => (error: unknown) => complained(what, error);
  const core = await createCore({
    ...{ database, redis: [], feeds: config.feeds, recordsEvents: true },
    reportHideAfter: config.safety.reportHideAfter,
    realtime: () => ({
      liveLog: new SharedLiveLog(live),
      sessionEnds: new SharedSessionEnds(live),
      workSignal: new MemoryWorkSignal(),
    }),
    tickets: () => ({ sign: refused, read: refused }),
    onLiveLogError: onError('live log'),
    onStoreUnavailable: onError('store'),
    onPublished: () => undefined,
    onFeedRead: () => undefined,
    onShown: () => undefined,
  });
  await core.pulledRefs.known();
  const report = ({ err, ...fields }: LogFields, message: string): void =>
    complained(`${message} ${JSON.stringify(fields)}`, err);
  const logger: Logger = { ...silentLogger(), warn: report, error: report, child: () => logger };
  const identity = (userId: string, ...roles: Role[]): Identity => ({
    userId,
    roles: new Set<Role>(roles.length === 0 ? ['user'] : roles),
    expiresAt: null,
  });
  return {
    ...{ core, services: servicesOf(core), identity },
    session: (userId, ...roles) => openSession(core, identity(userId, ...roles)),
    startWorkers: () => startWorkers(config, core, logger, createMetrics({ withProcess: false })),
    now: () => clock.time(),
  };
}

const refused = (): Promise<never> => Promise.reject(new Error('Nobody connects'));

/** As the driver does it: the answer says what time it is at the database. */
async function greet(client: MongoClient): Promise<void> {
  const startedAt = performance.now();
  const reply = await client.db('admin').command({ hello: 1 });
  const duration = performance.now() - startedAt;
  client.emit('serverHeartbeatSucceeded', { reply, duration, awaited: false } as never);
}

export { allIndexes } from '../../src/app/collections.ts';
export { blockTag } from '../../src/domain/block.ts';
export { FanfareError } from '../../src/domain/errors.ts';
export { referenceOf } from '../fault/kills/reference.ts';
export { engagementOf, feedFor, followersOf } from '../support/model.ts';
export { notificationsFor } from '../support/model-concerns.ts';
