import { describe, expect, inject, it } from 'vitest';
import { openRedisLog } from '../../conformance/live-log-redis.ts';
import { entries, entry, event, eventually, label, numbers, Tap } from '../../conformance/live-log-tools.ts';
import { startRedisProcess } from './redis-process.ts';

const url = inject('redisUrl');

describe('two processes on one Redis', () => {
  it('share watches and appends', async () => {
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

  it('number the events of both in one order for all watchers', async () => {
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

  it('with different prefixes do not affect each other', async () => {
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
  it('watchers of a process share one subscription, whatever the reader', async () => {
    await using api = await openRedisLog({ url });
    const taps = await Promise.all(numbers(1, 50).map(() => Tap.open(api.log, 'ann')));
    const others = await Promise.all(numbers(1, 50).map((n) => Tap.open(api.log, `u${String(n)}`)));
    const channels = await api.channels();
    expect(channels.length).toBe(1);
    expect(await api.redis.commands.pubsub('NUMSUB', ...channels)).toEqual([channels[0], 1]);
    for (const tap of others) tap[Symbol.dispose]();
    for (const tap of taps.slice(1)) tap[Symbol.dispose]();
    expect(api.log.usage).toEqual({ watchers: 1, readers: 1, channels: 1, timers: 1 });
    taps[0]?.[Symbol.dispose]();
    await eventually('the channel is gone', async () => (await api.channels()).length === 0);
  });

  it('every key of a reader expires some time after the last watcher left', async () => {
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

  it('a renewed watch outlives the window', async () => {
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

  it('a log never exceeds its limit', async () => {
    await using api = await openRedisLog({ url, logLength: 20 });
    using _tap = await Tap.open(api.log, 'ann');
    await api.log.append(entries('ann', 1, 500));
    expect(await api.redis.commands.xlen(`${api.prefix}live:log:ann`)).toBe(20);
  });

  it.each(['live:head:ann', 'live:watched', 'live:epoch'])(
    'losing %s is noticed by the watcher without another event',
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

  it.each(['nobody', 'this process', 'another process'])(
    'a flushed server is noticed long before the next renewal, also if %s has watched again since',
    async (who) => {
      await using redis = await startRedisProcess();
      const never = { url: redis.url, windowMs: 10_000_000, renewEveryMs: 1_000_000 };
      await using api = await openRedisLog(never);
      await using other = await openRedisLog({ ...never, prefix: api.prefix });
      using ann = await Tap.open(api.log, 'ann');
      using bob = await Tap.open(api.log, 'bob');
      await Promise.all([ann.next(), bob.next()]);
      await api.redis.commands.flushall();
      if (who !== 'nobody') await (who === 'this process' ? api : other).log.position('eve');
      expect([...(await ann.labels(1)), ...(await bob.labels(1))]).toEqual([
        'resync log-lost',
        'resync log-lost',
      ]);
      await other.log.append([entry('ann', 1), entry('bob', 2)]);
      expect([...(await ann.labels(1)), ...(await bob.labels(1))]).toEqual([1, 2]);
    },
  );

  it('losing the stream of a log makes resuming watchers resync', async () => {
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

  it('events whose message is lost are read from the log', async () => {
    await using api = await openRedisLog({ url, renewEveryMs: 20 });
    await using worker = await openRedisLog({ url, prefix: api.prefix });
    using tap = await Tap.open(api.log, 'ann');
    await tap.next();
    await api.redis.subscriber.unsubscribe(...(await api.channels()));
    await worker.log.append(entries('ann', 1, 3));
    expect(await tap.labels(3)).toEqual([1, 2, 3]);
  });

  it.each([
    '{"no":"hint"}',
    '[]',
    '[["x"],[]]',
    '[[""],["ann","g","1-1",0]]',
    '[[],["ann",1,"1-1",0]]',
    'a b',
  ])('a foreign message on a channel is reported and does no harm: %s', async (message) => {
    await using api = await openRedisLog({ url });
    using tap = await Tap.open(api.log, 'ann');
    for (const channel of await api.channels()) await api.redis.commands.publish(channel, message);
    await api.log.append([{ userId: 'ann', event: event(1, 'removed') }]);
    expect((await tap.take(2)).map(label)).toEqual(['ready', 1]);
    expect(api.troubles).toEqual(['read a hint']);
  });

  it('one message delivers an event to all readers of a process, and none is sent to processes without them', async () => {
    await using api = await openRedisLog({ url });
    await using other = await openRedisLog({ url, prefix: api.prefix });
    const ids = numbers(1, 200).map((n) => `u${String(n)}`);
    const taps = await Promise.all(ids.map((id) => Tap.open(api.log, id)));
    using elsewhere = await Tap.open(other.log, 'zoe');
    await elsewhere.next();
    const messages = { here: 0, there: 0 };
    api.redis.subscriber.on('message', () => (messages.here += 1));
    other.redis.subscriber.on('message', () => (messages.there += 1));
    await other.log.append(ids.map((id) => entry(id, 1)));
    for (const tap of taps) {
      using open = tap;
      expect(await open.labels(2)).toEqual(['ready', 1]);
    }
    expect(messages).toEqual({ here: 1, there: 0 });
  });

  it('a reader with watchers in two processes gets their events in both, in order, and no others', async () => {
    await using left = await openRedisLog({ url });
    await using right = await openRedisLog({ url, prefix: left.prefix });
    using inLeft = await Tap.open(left.log, 'ann');
    using inRight = await Tap.open(right.log, 'ann');
    using bob = await Tap.open(right.log, 'bob');
    await right.log.append([
      entry('ann', 1),
      entry('bob', 2),
      entry('ann', 3),
      entry('bob', 1),
      entry('ann', 2),
    ]);
    expect(await inLeft.labels(4)).toEqual(['ready', 1, 3, 2]);
    expect(await inRight.labels(4)).toEqual(['ready', 1, 3, 2]);
    expect(await bob.labels(3)).toEqual(['ready', 2, 1]);
  });

  it("a reader's log names a process while it watches, and not after it died or the reader left", async () => {
    await using api = await openRedisLog({ url, renewEveryMs: 20 });
    const processes = async (): Promise<number> => {
      const named = (await api.redis.commands.hget(`${api.prefix}live:head:ann`, 'to')) ?? '';
      return named.split(' ').filter((name) => name !== '').length;
    };
    using here = await Tap.open(api.log, 'ann');
    await here.next();
    {
      await using dead = await openRedisLog({ url, prefix: api.prefix });
      using _tap = await Tap.open(dead.log, 'ann');
      expect(await processes()).toBe(2);
    }
    // Nobody listens to it any more: the next event finds that out.
    await api.log.append([entry('ann', 1)]);
    expect(await here.labels(1)).toEqual([1]);
    expect(await processes()).toBe(1);
    using _other = await Tap.open(api.log, 'bob');
    here[Symbol.dispose]();
    await api.log.append([entry('ann', 2)]);
    await eventually('nothing of ann comes to the process any more', async () => (await processes()) === 0);
    using again = await Tap.open(api.log, 'ann');
    await api.log.append([entry('ann', 3)]);
    expect(await again.labels(2)).toEqual(['ready', 3]);
  });

  it('a lost set of watchers is restored by the next renewal', async () => {
    await using api = await openRedisLog({ url, renewEveryMs: 20 });
    using tap = await Tap.open(api.log, 'ann');
    await tap.next();
    await api.redis.commands.hdel(`${api.prefix}live:head:ann`, 'to');
    await api.log.append([entry('ann', 1)]);
    expect(await tap.labels(1)).toEqual([1]);
    await api.log.append([entry('ann', 2)]);
    expect(await tap.labels(1)).toEqual([2]);
  });
});
