import { readConfig } from '../../../src/config/read-config.ts';
import type { FeedStore } from '../../../src/feed/feed-store.ts';
import { BROUGHT } from '../../../src/app/brought.ts';
import { createFeedStore } from '../../../src/app/feed-models.ts';
import { Closer } from '../../../src/lib/closer.ts';
import { connectRedis } from '../../../src/connections/redis.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { startFanfare, type FanfareProcess } from '../../support/processes.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';

const READERS = 24;
/** Whom everybody follows. */
export const ACTOR = 'actor';
/** The supervisor of every fourth reader. */
export const BOSS = 'boss';
export const SITES = ['site-0', 'site-1', 'site-2'] as const;
export const DEPARTMENTS = ['d0', 'd1', 'd2'] as const;
export const TEAMS = ['t0', 't1'] as const;

/** One installation with one feed model, whose one worker is a process that can be killed. */
export interface World extends AsyncDisposable {
  /** Neither API nor worker: where things are done and read. */
  readonly app: TestApp;
  /** What is stored, read past the service. */
  readonly store: FeedStore;
  readonly readers: readonly string[];
  readonly cap: number;
  /** Whether the worker is no more. */
  hasEnded(): boolean;
  /** Whether anything is left to do. */
  isBusy(): Promise<boolean>;
  /** Kills the worker by SIGKILL. Resolves when it is no more. */
  kill(): Promise<void>;
  /** Starts a worker in the place of the one that was killed. It takes up what there is when it has come so far. */
  replace(): void;
  /** Resolves when nothing is left to do. Rejects when the worker has ended on its own. */
  idle(): Promise<void>;
  /** How many fan-outs and rebuilds of feeds were begun and are not done. */
  begun(): Promise<number>;
}

export async function openWorld(model: string, random: SeededRandom): Promise<World> {
  const closer = new Closer();
  try {
    return await open(model, random, closer);
  } catch (error) {
    await closer.close();
    throw error;
  }
}

async function open(model: string, random: SeededRandom, closer: Closer): Promise<World> {
  // One that no feed reaches, and one that every feed outgrows: what lies below goes on from the actions.
  const cap = random.pick([1_000, 12]);
  const app = closer.own(
    await startTestApp({
      api: false,
      worker: false,
      env: {
        FEED_MODEL: model,
        FEED_CAP: String(cap),
        FAN_OUT_CHUNK: '3',
        FAN_OUT_LEASE: '1s',
        // A process that is killed again and again is not to blame.
        FAN_OUT_ATTEMPTS: '100',
        POLL_INTERVAL: '50ms',
        WORKER_CONCURRENCY: '2',
      },
    }),
  );
  const { collections } = app.app.database;
  const { redis: settings } = readConfig(app.env, BROUGHT);
  const redis = closer.own(await connectRedis({ url: app.env['REDIS_URL'] ?? '' }));
  const store = createFeedStore(model, {
    db: app.app.database.db,
    cap,
    redis: [{ ...redis, prefix: `${settings.prefix}${app.database}:` }],
  });
  const readers = Array.from({ length: READERS }, (_, n) => `r${String(n).padStart(2, '0')}`);
  let hasEnded = false;
  const start = (): FanfareProcess => {
    const started = startFanfare(['worker'], app.env);
    hasEnded = false;
    void started.exited().then(() => {
      hasEnded ||= started === worker;
    });
    return started;
  };
  let worker: FanfareProcess = start();
  closer.own({ [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose]() });
  const idle = (): Promise<void> => Promise.race([app.idle(), ended(worker)]);
  await populate(app, readers);
  // A model that vouches for nothing until it was given a feed is given it when the feed is read.
  await Promise.all(readers.map((reader) => app.services.readFeed(app.session(reader), {})));
  await idle();
  return {
    app,
    store,
    readers,
    cap,
    hasEnded: () => hasEnded,
    isBusy: async () => (await app.app.openFanOuts()) + (await app.app.openRebuilds()) > 0,
    async kill() {
      worker.kill('SIGKILL');
      if ((await worker.exited()) !== null) throw new Error('The worker had ended before it was killed');
    },
    replace() {
      worker = start();
    },
    idle,
    async begun() {
      const [fanOuts, rebuilds] = await Promise.all([
        collections.actions.countDocuments({ 'fanOut.state': 'IN_PROGRESS' }),
        collections.feeds.countDocuments({ 'rebuild.attempts': { $gt: 0 } }),
      ]);
      return fanOuts + rebuilds;
    },
    [Symbol.asyncDispose]: () => closer.close(),
  };
}

/** Rejects when the process has ended otherwise than by being killed. */
async function ended(worker: FanfareProcess): Promise<never> {
  const code = await worker.exited();
  if (code === null) return new Promise<never>(() => undefined);
  throw new Error(
    `The worker ended on its own, with ${String(code)}: ${JSON.stringify(worker.log.slice(-5))}`,
  );
}

async function populate({ services, identity }: TestApp, readers: readonly string[]): Promise<void> {
  const service = identity('service', 'service');
  const groups = (n: number) => ({
    departmentId: DEPARTMENTS[n % DEPARTMENTS.length] ?? null,
    teamId: TEAMS[n % TEAMS.length] ?? null,
  });
  await services.upsertMembers(service, [
    { memberId: ACTOR, name: 'Actor', ...groups(0) },
    { memberId: BOSS, name: 'Boss', ...groups(1) },
    ...readers.map((memberId, n) => ({
      memberId,
      name: memberId,
      ...groups(n),
      supervisorId: n % 4 === 0 ? BOSS : null,
    })),
  ]);
  await services.followMany(
    service,
    readers.flatMap((followerId, n) =>
      [ACTOR, SITES[n % SITES.length] ?? ''].map((refId) => ({ followerId, refId })),
    ),
  );
}
