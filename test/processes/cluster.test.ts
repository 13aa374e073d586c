import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFeedStore } from '../../src/app/feed-models.ts';
import { openRedisParts, type RedisParts } from '../../src/connections/redis-parts.ts';
import { PartitionedLiveLog } from '../../src/live/create-realtime.ts';
import { RedisLiveLog } from '../../src/live/redis-live-log.ts';
import type { WorkOffer } from '../../src/live/work-signal.ts';
import { borrowDatabase, openShared, returnDatabase } from '../support/spare-databases.ts';
import { uniqueName } from '../support/unique-name.ts';
import { until } from '../support/valkey.ts';
import { startValkeyCluster, type ValkeyCluster } from '../support/valkey-cluster.ts';
import { feedStoreCapConformance } from '../conformance/feed-store-cap.conformance.ts';
import { feedStoreConformance } from '../conformance/feed-store.conformance.ts';
import type { OpenFeedStore } from '../conformance/feed-store-tools.ts';
import { liveLogConformance } from '../conformance/live-log.conformance.ts';
import { hearThrough, startProcess, undisturbed } from './cluster-tools.ts';

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

describe('a Redis Cluster of three nodes', () => {
  it('has partitions on each of its nodes, and wakes workers and ends sessions of other processes', async () => {
    const prefix = `${uniqueName('test')}:`;
    await using near = await startProcess(cluster.url, prefix, 60_000);
    await using far = await startProcess(cluster.url, prefix, 60_000);
    const ports = near.redis.parts.map(({ commands }) => commands.stream.remotePort);
    expect(new Set(ports)).toEqual(new Set(cluster.nodes.map(({ port }) => port)));
    const offers: WorkOffer[] = [];
    using _listening = far.workSignal.onWork('fan-out', (offer) => offers.push(offer));
    const ended: string[] = [];
    using _session = far.sessionEnds.onEnd('ann', () => ended.push('ann'));
    const isHeard = async (): Promise<boolean> => {
      near.workSignal.notify('fan-out');
      await near.sessionEnds.endSessions('ann');
      return offers.length > 0 && ended.length > 0;
    };
    await until('the other process hears', isHeard);
    const taken: unknown[] = [];
    for (const isBusy of [true, false]) taken.push(await offers[0]?.take(isBusy));
    expect(taken).toEqual([true, false]);
    await near.redis.ping();
  });

  it('loses no event without a resync when a node dies, and readers of the others get all events', async () => {
    const prefix = `${uniqueName('test')}:`;
    await using near = await startProcess(cluster.url, prefix, 10_000);
    await using far = await startProcess(cluster.url, prefix, 10_000);
    const [killed] = cluster.nodes;
    const ofKilled = far.redis.parts.filter(({ commands }) => commands.stream.remotePort === killed?.port);
    expect(ofKilled.length).toBeGreaterThan(0);
    const heard = await hearThrough({ near, far }, async (write) => {
      await killed?.kill();
      await write();
      await killed?.start();
      await cluster.whole();
    });
    expect(undisturbed(heard).length).toBeGreaterThan(0);
    expect(undisturbed(heard).length).toBeLessThan(heard.length);
  });
});
