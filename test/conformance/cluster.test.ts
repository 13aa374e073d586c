import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFeedStore } from '../../src/feeds/registry.ts';
import { openRedisParts, type RedisParts } from '../../src/connections/redis-parts.ts';
import { createRealtime, type Realtime } from '../../src/realtime/create-realtime.ts';
import type { LiveLogOptions } from '../../src/realtime/live-options.ts';
import { PartitionedLiveLog } from '../../src/realtime/partitioned-live-log.ts';
import { RedisLiveLog } from '../../src/realtime/redis-live-log.ts';
import { borrowDatabase, openShared, returnDatabase } from '../support/spare-databases.ts';
import { uniqueName } from '../support/unique-name.ts';
import { startValkeyCluster, until, type ValkeyCluster } from '../support/valkey.ts';
import { feedStoreCapConformance } from './feed-store-cap.conformance.ts';
import { feedStoreConformance } from './feed-store.conformance.ts';
import type { OpenFeedStore } from './feed-store-tools.ts';
import { liveLogConformance } from './live-log.conformance.ts';
import type { LiveMessages } from '../../src/realtime/live-log.ts';

let cluster: ValkeyCluster;
beforeAll(async () => {
  cluster = await startValkeyCluster();
});
afterAll(async () => cluster[Symbol.asyncDispose]());

const open = (prefix = `${uniqueName('test')}:`): Promise<RedisParts> =>
  openRedisParts({ url: cluster.url, prefix });

async function total(redis: RedisParts, count: (part: RedisParts['parts'][number]) => Promise<number>) {
  return (await Promise.all(redis.parts.map(count))).reduce((sum, n) => sum + n, 0);
}

liveLogConformance('redis cluster', async (options) => {
  const redis = await open();
  const listeners = () =>
    redis.parts
      .flatMap(({ commands, subscriber }) => [commands, subscriber])
      .reduce(
        (sum, client) => sum + client.eventNames().reduce((n, name) => n + client.listenerCount(name), 0),
        0,
      );
  const before = listeners();
  const logs = redis.parts.map((part) => new RedisLiveLog({ ...options, redis: part, prefix: part.prefix }));
  const log = new PartitionedLiveLog(logs);
  const opened = listeners();
  const held = (name: keyof RedisLiveLog['usage']) => logs.reduce((sum, { usage }) => sum + usage[name], 0);
  return {
    log,
    held: async () => ({
      ...{ watchers: held('watchers'), readers: held('readers') },
      ...{ channels: held('channels'), timers: held('timers') },
      acknowledgedChannels: await total(redis, async ({ commands, prefix }) => {
        const channels = (await commands.call('PUBSUB', 'SHARDCHANNELS', `${prefix}*`)) as string[];
        return channels.length;
      }),
      listeners: Math.max(0, listeners() - opened),
    }),
    stored: () =>
      total(redis, async ({ commands, prefix }) => {
        const keys = await commands.keys(`${prefix}*`);
        return keys.filter((key) => key !== `${prefix}live:epoch`).length;
      }),
    async [Symbol.asyncDispose]() {
      await log[Symbol.asyncDispose]();
      expect(listeners()).toBe(before);
      await redis.close();
    },
  };
});

const openStore: OpenFeedStore = async ({ cap = 1_000 } = {}) => {
  const database = await openShared(await borrowDatabase());
  const redis = await open();
  return {
    store: createFeedStore('redis', { db: database.db, cap, redis: redis.parts }),
    async [Symbol.asyncDispose]() {
      await redis.close();
      await returnDatabase(database);
    },
  };
};
feedStoreConformance('redis in a cluster', openStore);
feedStoreCapConformance('redis in a cluster', openStore, { hasCap: true });

interface Process extends Realtime, AsyncDisposable {
  readonly redis: RedisParts;
}

async function startProcess(
  prefix: string,
  limits: Required<Pick<LiveLogOptions, 'windowMs'>>,
): Promise<Process> {
  const redis = await open(prefix);
  const realtime = createRealtime(
    {
      ...{ windowMs: limits.windowMs, maxEvents: 1_000, maxBufferedEvents: 1_000 },
      ...{ maxSubscriptionsPerConnection: 1, maxSubscriptionsPerUser: 1 },
      endedAmong: () => Promise.resolve([]),
    },
    redis,
    () => undefined,
  );
  return {
    ...{ ...realtime, redis },
    async [Symbol.asyncDispose]() {
      await realtime.liveLog[Symbol.asyncDispose]();
      await realtime.workSignal[Symbol.asyncDispose]();
      await realtime.sessionEnds[Symbol.asyncDispose]();
      await redis.close();
    },
  };
}

const READERS = Array.from({ length: 40 }, (_, n) => `reader-${String(n)}`);
const event = (n: number) =>
  ({
    kind: 'added',
    actionId: n.toString(16).padStart(24, '0'),
    relevancy: new Date(n),
    reasons: ['FOLLOW'],
  }) as const;

/** The ids of the actions that a watcher hears of until the one given, and why it had to query again. */
async function heard(messages: LiveMessages, last: number): Promise<{ ids: string[]; resyncs: string[] }> {
  const ids: string[] = [];
  const resyncs: string[] = [];
  for await (const message of messages) {
    if (message.kind === 'resync') resyncs.push(message.reason);
    if (message.kind !== 'event' || message.event.kind === 'list') continue;
    ids.push(message.event.actionId);
    if (message.event.actionId === event(last).actionId) break;
  }
  return { ids, resyncs };
}

describe('a cluster of three', () => {
  it('has parts on each of its nodes, and wakes workers and ends sessions of other processes', async () => {
    const prefix = `${uniqueName('test')}:`;
    await using near = await startProcess(prefix, { windowMs: 60_000 });
    await using far = await startProcess(prefix, { windowMs: 60_000 });
    const ports = near.redis.parts.map(({ commands }) => commands.stream.remotePort);
    expect(new Set(ports)).toEqual(new Set(cluster.nodes.map(({ port }) => port)));
    let woken = 0;
    using _listening = far.workSignal.onWork(() => (woken += 1));
    const ended: string[] = [];
    using _session = far.sessionEnds.onEnd('ann', () => ended.push('ann'));
    const isHeard = async (): Promise<boolean> => {
      near.workSignal.notify();
      await near.sessionEnds.endSessions('ann');
      return woken > 0 && ended.length > 0;
    };
    await until('the other process hears', isHeard);
    await near.redis.ping();
  });

  it('loses no event without a resync when a node dies, and the readers of the others hear all', async () => {
    const prefix = `${uniqueName('test')}:`;
    await using near = await startProcess(prefix, { windowMs: 10_000 });
    await using far = await startProcess(prefix, { windowMs: 10_000 });
    const leaving = new AbortController();
    const watches = await Promise.all(
      READERS.map((userId) => near.liveLog.watch({ userId, signal: AbortSignal.any([leaving.signal]) })),
    );
    const [killed] = cluster.nodes;
    const ofKilled = new Set(
      far.redis.parts.flatMap(({ commands }, index) =>
        commands.stream.remotePort === killed?.port ? [index] : [],
      ),
    );
    expect(ofKilled.size).toBeGreaterThan(0);
    const last = 60;
    const hearing = watches.map((messages) => heard(messages, last));
    const all = async (n: number): Promise<void> => {
      await far.liveLog.append(READERS.map((userId) => ({ userId, event: event(n) }))).catch(() => undefined);
    };
    for (let n = 1; n < 20; n += 1) await all(n);
    await killed?.kill();
    for (let n = 20; n < 40; n += 1) await all(n);
    await killed?.start();
    await cluster.whole();
    for (let n = 40; n < last; n += 1) await all(n);
    // The last one until everybody has heard it: what was sent before all connections were back leads to a resync.
    const done: Awaited<ReturnType<typeof heard>>[] = [];
    for (const one of hearing) void one.then((result) => done.push(result));
    await until('everybody hears the last event', async () => {
      await all(last);
      return done.length === READERS.length;
    });
    const before = Array.from({ length: last }, (_, n) => event(n + 1).actionId);
    let whole = 0;
    for (const { ids, resyncs } of done) {
      const isComplete = before.every((id) => ids.includes(id));
      if (isComplete && resyncs.length === 0) whole += 1;
      expect(isComplete || resyncs.length > 0).toBe(true);
    }
    expect(whole).toBeGreaterThan(0);
    expect(whole).toBeLessThan(READERS.length);
    leaving.abort();
  });
});
