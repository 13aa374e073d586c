import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { LiveLogUnavailable } from '../../../src/live/live-log.ts';
import { type SessionEnds, RedisSessionEnds, type EndedAmong } from '../../../src/live/session-ends.ts';
import { connectRedis, type RedisConnections } from '../../../src/connections/redis.ts';
import { eventually } from '../../conformance/live-log-tools.ts';
import { MemorySessionEnds } from '../../support/memory-live-log.ts';
import { openParts } from '../../support/parts.ts';
import { startTcpProxy, through } from './tcp-proxy.ts';

const url = inject('redisUrl');
const nobody: EndedAmong = () => Promise.resolve([]);

interface Process extends AsyncDisposable {
  readonly ends: SessionEnds;
  readonly redis: RedisConnections;
  readonly troubles: string[];
}

async function openProcess(prefix: string, endedAmong = nobody, redisUrl = url): Promise<Process> {
  const redis = await connectRedis({ url: redisUrl, commandTimeoutMs: 500 });
  const troubles: string[] = [];
  const ends = new RedisSessionEnds({
    ...{ redis, prefix, endedAmong },
    onTrouble: (what) => troubles.push(what),
  });
  return {
    ends,
    redis,
    troubles,
    async [Symbol.asyncDispose]() {
      await ends[Symbol.asyncDispose]();
      await redis.close();
    },
  };
}

async function listening({ redis }: Process, prefix: string, count = 1): Promise<void> {
  await eventually('they listen', async () => {
    const [, listeners] = await redis.commands.pubsub('NUMSUB', `${prefix}live:ended`);
    return listeners === count;
  });
}

describe.each<[string, () => Promise<AsyncDisposable & { readonly ends: SessionEnds }>]>([
  [
    'in memory',
    () => {
      const ends = new MemorySessionEnds();
      return Promise.resolve({ ends, [Symbol.asyncDispose]: () => ends[Symbol.asyncDispose]() });
    },
  ],
  ['over Redis', () => openProcess(`test:${randomUUID()}:`)],
])('ends of sessions %s', (_name, open) => {
  it('reach every session of the member once, and no others', async () => {
    await using fixture = await open();
    const { ends } = fixture;
    const ended: string[] = [];
    for (const [userId, name] of [
      ['ann', 'ann 1'],
      ['ann', 'ann 2'],
      ['bob', 'bob'],
      ['ann:b', 'other'],
      ['', 'empty'],
    ] as const)
      ends.onEnd(userId, () => ended.push(name));
    await ends.endSessions('ann');
    await ends.endSessions('nobody');
    await ends.endSessions('ann');
    await ends.endSessions('');
    expect(ended).toEqual(['ann 1', 'ann 2', 'empty']);
  });

  it('do not reach a session that has ended, nor one that is opened later', async () => {
    await using fixture = await open();
    const { ends } = fixture;
    const ended: string[] = [];
    const first = ends.onEnd('ann', () => ended.push('first'));
    ends.onEnd('ann', () => ended.push('second'));
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await ends.endSessions('ann');
    ends.onEnd('ann', () => ended.push('later'));
    expect(ended).toEqual(['second']);
  });

  it('leave open sessions alone when they are disposed', async () => {
    const { ends, ...fixture } = await open();
    let isEnded = false;
    ends.onEnd('ann', () => (isEnded = true));
    await fixture[Symbol.asyncDispose]();
    expect(isEnded).toBe(false);
  });
});

describe('ends of sessions over Redis', () => {
  it('reach every process, and leave no channel and no listener behind', async () => {
    const prefix = `test:${randomUUID()}:`;
    const ended: number[] = [];
    {
      await using here = await openProcess(prefix);
      await using there = await openProcess(prefix);
      here.ends.onEnd('ann', () => ended.push(1));
      there.ends.onEnd('ann', () => ended.push(2));
      await listening(here, prefix, 2);
      await here.ends.endSessions('ann');
      await eventually('both have ended', () => ended.length === 2);
      expect(ended.sort()).toEqual([1, 2]);
      await there.ends[Symbol.asyncDispose]();
      expect(there.redis.subscriber.listenerCount('message')).toBe(0);
    }
    await using redis = await connectRedis({ url });
    expect(await redis.commands.pubsub('CHANNELS', `${prefix}*`)).toEqual([]);
  });

  it('fail while Redis cannot be reached, so that they are retried', async () => {
    await using proxy = await startTcpProxy(url);
    await using here = await openProcess(`test:${randomUUID()}:`, nobody, through(url, proxy));
    let isEnded = false;
    here.ends.onEnd('ann', () => (isEnded = true));
    proxy.cut();
    await expect(here.ends.endSessions('ann')).rejects.toThrow(LiveLogUnavailable);
    expect(isEnded).toBe(false);
    proxy.heal();
    await eventually('it is back', () =>
      here.ends.endSessions('ann').then(
        () => true,
        () => false,
      ),
    );
    expect(isEnded).toBe(true);
  });

  it('that were missed are repeated after reconnecting, also if the first query fails', async () => {
    await using proxy = await startTcpProxy(url);
    const prefix = `test:${randomUUID()}:`;
    const erased = new Set<string>();
    const asked: string[][] = [];
    const endedAmong: EndedAmong = (openedAt) => {
      asked.push([...openedAt.keys()]);
      for (const time of openedAt.values()) expect(time.getTime()).toBeLessThanOrEqual(Date.now());
      // The database does not answer the first time after the connection is back.
      if (asked.length === 2) return Promise.reject(new Error('Away'));
      return Promise.resolve([...openedAt.keys()].filter((userId) => erased.has(userId)));
    };
    await using there = await openProcess(prefix, endedAmong, through(url, proxy));
    await using here = await openProcess(prefix);
    const ended: string[] = [];
    for (const userId of ['ann', 'bob']) there.ends.onEnd(userId, () => ended.push(userId));
    await listening(here, prefix);
    await eventually('it has asked', () => asked.length === 1);
    proxy.cut();
    await listening(here, prefix, 0);
    erased.add('ann');
    await here.ends.endSessions('ann');
    expect(ended).toEqual([]);
    proxy.heal();
    await eventually('it has found out', () => ended.length > 0);
    expect(ended).toEqual(['ann']);
    expect(asked).toEqual([
      ['ann', 'bob'],
      ['ann', 'bob'],
      ['ann', 'bob'],
    ]);
    expect(there.troubles).toContain('find out whose sessions have ended');
  });
});

describe('after a reconnect the process looks for members', () => {
  it('whose erasure is running, or has begun since they opened a session', async () => {
    await using parts = await openParts();
    const { erasures } = parts.repositories;
    const now = Date.now();
    const begin = (memberId: string, ago: number): Promise<void> =>
      erasures.begin({
        ...{ memberId, names: [], pseudonym: `p-${memberId}`, by: 'admin' },
        now: new Date(now - ago),
      });
    await begin('running', 3_600_000);
    await begin('recent', 0);
    await begin('long-ago', 3_600_000);
    await parts.database.collections.erasures.updateMany(
      { memberId: { $in: ['recent', 'long-ago'] } },
      { $set: { state: 'DONE' } },
    );
    const openedAt = new Date(now - 600_000);
    const asked = ['running', 'recent', 'long-ago', 'never'].map((userId) => [userId, openedAt] as const);
    expect((await erasures.erasedAmong(new Map(asked))).sort()).toEqual(['recent', 'running']);
    expect(await erasures.erasedAmong(new Map([['recent', new Date(now + 600_000)]]))).toEqual([]);
  });
});
