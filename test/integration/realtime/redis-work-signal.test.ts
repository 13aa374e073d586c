import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { MemoryWorkSignal, RedisWorkSignal } from '../../../src/live/work-signal.ts';
import { connectRedis } from '../../../src/connections/redis.ts';
import { eventually } from '../../conformance/live-log-tools.ts';
import { startTcpProxy, through } from './tcp-proxy.ts';

const url = inject('redisUrl');

describe('wake-ups over Redis', () => {
  it('reach the workers of every process', async () => {
    const prefix = `test:${randomUUID()}:`;
    await using near = await connectRedis({ url });
    await using far = await connectRedis({ url });
    await using here = new RedisWorkSignal({ redis: near, prefix });
    await using there = new RedisWorkSignal({ redis: far, prefix });
    let calls = 0;
    using _listening = there.onWork('fan-out', () => (calls += 1));
    await eventually(
      'the channel is there',
      async () => (await near.commands.pubsub('CHANNELS', `${prefix}*`)).length === 1,
    );
    here.notify('fan-out');
    await eventually('the other process is woken', () => calls > 0);
  });

  it('are combined if they are many', async () => {
    const prefix = `test:${randomUUID()}:`;
    await using redis = await connectRedis({ url });
    await using signal = new RedisWorkSignal({ redis, prefix });
    let calls = 0;
    using _listening = signal.onWork('fan-out', () => (calls += 1));
    for (let i = 0; i < 10_000; i += 1) signal.notify('fan-out');
    await eventually('a call', () => calls > 0);
    await redis.ping();
    expect(calls).toBeLessThan(10);
  });

  it('wake this process and never throw while Redis is down, and wake every listener afterwards', async () => {
    const prefix = `test:${randomUUID()}:`;
    await using proxy = await startTcpProxy(url);
    await using redis = await connectRedis({ url: through(url, proxy) });
    const troubles: string[] = [];
    await using signal = new RedisWorkSignal({ redis, prefix, onTrouble: (what) => troubles.push(what) });
    let calls = 0;
    using _listening = signal.onWork('fan-out', () => (calls += 1));
    await redis.subscriber.ping();
    proxy.cut();
    await eventually('the connection is gone', () => redis.subscriber.status !== 'ready');
    signal.notify('fan-out');
    await eventually(
      'this process is woken and the fault reported',
      () => calls === 1 && troubles.length > 0,
    );
    proxy.heal();
    await eventually('the reconnect wakes', () => calls === 2);
  });

  it('end with their subscription, and leave nothing behind', async () => {
    const prefix = `test:${randomUUID()}:`;
    await using redis = await connectRedis({ url });
    const before = redis.subscriber.listenerCount('message');
    const signal = new RedisWorkSignal({ redis, prefix });
    let calls = 0;
    const first = signal.onWork('fan-out', () => (calls += 1));
    let others = 0;
    using _second = signal.onWork('fan-out', () => (others += 1));
    first[Symbol.dispose]();
    signal.notify('fan-out');
    await eventually('the other is woken', () => others > 0);
    await signal[Symbol.asyncDispose]();
    expect(calls).toBe(0);
    expect(redis.subscriber.listenerCount('message')).toBe(before);
    expect(await redis.commands.pubsub('CHANNELS', `${prefix}*`)).toEqual([]);
  });
});

describe('wake-ups in memory', () => {
  it('run later, many as one, also if a callback throws', async () => {
    const troubles: unknown[] = [];
    await using signal = new MemoryWorkSignal({ onTrouble: (_what, error) => troubles.push(error) });
    let calls = 0;
    using _failing = signal.onWork('fan-out', () => {
      throw new Error('No');
    });
    using _counting = signal.onWork('fan-out', () => (calls += 1));
    for (let i = 0; i < 100; i += 1) signal.notify('fan-out');
    expect(calls).toBe(0);
    await eventually('the call', () => calls > 0);
    expect([calls, troubles.length]).toEqual([1, 1]);
  });
});
