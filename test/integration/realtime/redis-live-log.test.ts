import { describe, expect, inject, it } from 'vitest';
import { openRedisLog } from '../../conformance/live-log-redis.ts';
import { entries, entry, event, eventually, label, numbers, Tap } from '../../conformance/live-log-tools.ts';

const url = inject('redisUrl');

describe('two processes on one Redis', () => {
  it('share what is watched and what is appended', async () => {
    await using api = await openRedisLog({ url });
    await using worker = await openRedisLog({ url, prefix: api.prefix });
    using tap = await Tap.open(api.log, 'ann');
    expect(await worker.log.watched(['bob', 'ann'])).toEqual(['ann']);
    await worker.log.append(entries('ann', 1, 700));
    expect(await tap.labels(701)).toEqual(['ready', ...numbers(1, 700)]);
  });

  it('let a client resume at the other one', async () => {
    await using first = await openRedisLog({ url });
    await using second = await openRedisLog({ url, prefix: first.prefix });
    const tap = await Tap.open(first.log, 'ann');
    await second.log.append(entries('ann', 1, 3));
    const messages = await tap.take(2);
    tap[Symbol.dispose]();
    await first.log[Symbol.asyncDispose]();
    await second.log.append([entry('ann', 4)]);
    using again = await Tap.open(second.log, 'ann', messages[1]?.cursor);
    expect(await again.labels(4)).toEqual(['ready', 2, 3, 4]);
  });

  it('number the events of both in one order that all watchers see', async () => {
    await using left = await openRedisLog({ url });
    await using right = await openRedisLog({ url, prefix: left.prefix });
    using atLeft = await Tap.open(left.log, 'ann');
    using atRight = await Tap.open(right.log, 'ann');
    await Promise.all(
      numbers(1, 50).flatMap((n) => [
        left.log.append([entry('ann', n)]),
        right.log.append([entry('ann', 100 + n)]),
      ]),
    );
    const seenLeft = await atLeft.labels(101);
    expect(await atRight.labels(101)).toEqual(seenLeft);
    expect(seenLeft.filter((n) => Number(n) < 100)).toEqual(numbers(1, 50));
    expect(seenLeft.filter((n) => Number(n) > 100)).toEqual(numbers(101, 150));
  });

  it('with different prefixes know nothing of each other', async () => {
    await using left = await openRedisLog({ url });
    await using right = await openRedisLog({ url });
    using tap = await Tap.open(left.log, 'ann');
    expect(await right.log.watched(['ann'])).toEqual([]);
    await right.log.append([entry('ann', 1)]);
    await left.log.append([entry('ann', 2)]);
    expect(await tap.labels(2)).toEqual(['ready', 2]);
  });
});

describe('in Redis', () => {
  it('watchers of one reader in a process share one subscription', async () => {
    await using api = await openRedisLog({ url });
    const taps = await Promise.all(numbers(1, 50).map(() => Tap.open(api.log, 'ann')));
    expect(await api.redis.commands.pubsub('NUMSUB', `${api.prefix}live:to:ann`)).toEqual([
      `${api.prefix}live:to:ann`,
      1,
    ]);
    for (const tap of taps.slice(1)) tap[Symbol.dispose]();
    expect(api.log.usage).toEqual({ watchers: 1, readers: 1, channels: 1, timers: 1 });
    taps[0]?.[Symbol.dispose]();
    await eventually('the channel is gone', async () => (await api.channels()).length === 0);
  });

  it('every key of a reader is gone some time after the last watcher', async () => {
    await using api = await openRedisLog({ url, windowMs: 100, renewEveryMs: 10 });
    const tap = await Tap.open(api.log, 'ann');
    await api.log.append(entries('ann', 1, 3));
    await tap.until(3);
    expect((await api.keys()).sort()).toEqual([
      'live:epoch',
      'live:head:ann',
      'live:log:ann',
      'live:watched',
    ]);
    tap[Symbol.dispose]();
    await eventually('only the epoch is left', async () => (await api.keys()).join() === 'live:epoch');
  });

  it('a watch that is renewed outlives the window', async () => {
    const windowMs = 2_000;
    await using api = await openRedisLog({ url, windowMs, renewEveryMs: 50 });
    using tap = await Tap.open(api.log, 'ann');
    const { cursor } = await tap.next();
    const end = async (): Promise<number> =>
      Number(await api.redis.commands.zscore(`${api.prefix}live:watched`, 'ann'));
    const before = await end();
    await eventually('a window has passed since', async () => {
      expect(await api.log.watched(['ann'])).toEqual(['ann']);
      return (await end()) > before + windowMs;
    });
    await api.log.append([entry('ann', 1)]);
    using again = await Tap.open(api.log, 'ann', cursor);
    expect([...(await tap.labels(1)), ...(await again.labels(2))]).toEqual([1, 'ready', 1]);
  });

  it('a log is never longer than its limit', async () => {
    await using api = await openRedisLog({ url, logLength: 20 });
    using _tap = await Tap.open(api.log, 'ann');
    await api.log.append(entries('ann', 1, 500));
    expect(await api.redis.commands.xlen(`${api.prefix}live:log:ann`)).toBe(20);
  });

  it.each(['live:head:ann', 'live:watched', 'live:epoch'])(
    'losing %s is noticed by the watcher without any further event',
    async (key) => {
      await using api = await openRedisLog({ url, renewEveryMs: 20 });
      using tap = await Tap.open(api.log, 'ann');
      await tap.next();
      await api.redis.commands.del(api.prefix + key);
      expect(await tap.labels(1)).toEqual([
        key === 'live:epoch' ? 'resync log-lost' : 'resync log-interrupted',
      ]);
      await api.log.append([entry('ann', 1)]);
      expect(await tap.labels(1)).toEqual([1]);
    },
  );

  it('losing the stream of a log makes watchers that resume resync', async () => {
    await using api = await openRedisLog({ url });
    using tap = await Tap.open(api.log, 'ann');
    await api.log.append(entries('ann', 1, 2));
    const messages = await tap.take(3);
    await api.redis.commands.del(`${api.prefix}live:log:ann`);
    using again = await Tap.open(api.log, 'ann', messages[1]?.cursor);
    expect(await again.labels(2)).toEqual(['ready', 'resync window-passed']);
    await api.log.append([entry('ann', 3)]);
    expect([...(await tap.labels(1)), ...(await again.labels(1))]).toEqual([3, 3]);
  });

  it('an event whose PUBLISH never arrives is read from the log', async () => {
    await using api = await openRedisLog({ url, renewEveryMs: 20 });
    await using worker = await openRedisLog({ url, prefix: api.prefix });
    using tap = await Tap.open(api.log, 'ann');
    await tap.next();
    await api.redis.subscriber.unsubscribe(`${api.prefix}live:to:ann`);
    await worker.log.append(entries('ann', 1, 3));
    expect(await tap.labels(3)).toEqual([1, 2, 3]);
  });

  it('a foreign frame on a channel is reported and harms nobody', async () => {
    await using api = await openRedisLog({ url });
    using tap = await Tap.open(api.log, 'ann');
    await api.redis.commands.publish(`${api.prefix}live:to:ann`, 'a b {"no":"event"}');
    await api.log.append([{ userId: 'ann', event: event(1, 'removed') }]);
    expect((await tap.take(2)).map(label)).toEqual(['ready', 1]);
    expect(api.troubles).toEqual(['read a frame']);
  });
});
