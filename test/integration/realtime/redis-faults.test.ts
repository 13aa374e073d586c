import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { LiveLogUnavailable } from '../../../src/live/live-log.ts';
import { RedisLiveLog } from '../../../src/live/redis-live-log.ts';
import { connectRedis } from '../../../src/connections/redis.ts';
import { openRedisLog, type RedisLogFixture } from '../../conformance/live-log-redis.ts';
import { entries, entry, eventually, label, numbers, Tap } from '../../conformance/live-log-tools.ts';
import { startRedisProcess } from './redis-process.ts';
import { startTcpProxy, through } from './tcp-proxy.ts';

const url = inject('redisUrl');

async function killClients(
  admin: RedisLogFixture,
  target: RedisLogFixture,
  role: 'commands' | 'subscriber',
): Promise<void> {
  const id = await target.redis[role].client('ID');
  await admin.redis.commands.client('KILL', 'ID', id);
}

describe('a killed connection', () => {
  it('of the subscriber: watchers catch up on missed events, each once, without a resync', async () => {
    await using api = await openRedisLog({ url });
    await using worker = await openRedisLog({ url, prefix: api.prefix });
    using tap = await Tap.open(api.log, 'ann');
    await tap.next();
    for (const round of numbers(0, 4)) {
      await worker.log.append(entries('ann', round * 20 + 1, round * 20 + 10));
      await killClients(worker, api, 'subscriber');
      await worker.log.append(entries('ann', round * 20 + 11, round * 20 + 20));
      expect(await tap.labels(20)).toEqual(numbers(round * 20 + 1, round * 20 + 20));
    }
  });

  it('of the subscriber: reports window-passed if the log was trimmed meanwhile', async () => {
    await using api = await openRedisLog({ url, logLength: 5 });
    await using worker = await openRedisLog({ url, prefix: api.prefix, logLength: 5 });
    using tap = await Tap.open(api.log, 'ann');
    await tap.next();
    await Promise.all([killClients(worker, api, 'subscriber'), worker.log.append(entries('ann', 1, 9))]);
    const labels = (await tap.take(1)).map(label);
    if (labels[0] === 1) {
      // The append came first.
      expect(await tap.labels(8)).toEqual(numbers(2, 9));
    } else expect(labels).toEqual(['resync window-passed']);
    await worker.log.append([entry('ann', 10)]);
    expect(await tap.labels(1)).toEqual([10]);
  });

  it('for commands: watching resumes automatically', async () => {
    await using api = await openRedisLog({ url, renewEveryMs: 20 });
    await using worker = await openRedisLog({ url, prefix: api.prefix });
    using tap = await Tap.open(api.log, 'ann');
    await killClients(worker, api, 'commands');
    await worker.log.append(entries('ann', 1, 5));
    expect(await tap.labels(6)).toEqual(['ready', ...numbers(1, 5)]);
    using _bob = await Tap.reopen(api.log, 'bob');
  });
});

describe('a worker that cannot reach Redis while the watchers can', () => {
  it('fails with a typed error, and its readers get a resync after it reconnects', async () => {
    await using proxy = await startTcpProxy(url);
    await using api = await openRedisLog({ url });
    await using worker = await openRedisLog({ url: through(url, proxy), prefix: api.prefix });
    using ann = await Tap.open(api.log, 'ann');
    using bob = await Tap.open(api.log, 'bob');
    await worker.log.append([entry('ann', 1), entry('bob', 1)]);
    proxy.cut();
    await eventually('the worker notices', async () => {
      const outcome = await worker.log.append([entry('ann', 2)]).catch((error: unknown) => error);
      if (outcome !== undefined) expect(outcome).toBeInstanceOf(LiveLogUnavailable);
      return outcome !== undefined;
    });
    expect((await ann.until(1)).map(label)).toEqual(['ready', 1]);
    proxy.heal();
    const messages = [await ann.next()];
    // The cut itself may have come behind the append.
    if (label(messages[0] ?? { kind: 'ready', cursor: '' }) === 2) messages.push(await ann.next());
    expect(label(messages.at(-1) ?? { kind: 'ready', cursor: '' })).toBe('resync log-interrupted');
    await worker.log.append([entry('ann', 3), entry('bob', 3)]);
    expect(await ann.labels(1)).toEqual([3]);
    expect(await bob.labels(3)).toEqual(['ready', 1, 3]);
  });

  it('sends a resync also to a client that was away meanwhile', async () => {
    await using proxy = await startTcpProxy(url);
    await using api = await openRedisLog({ url });
    await using worker = await openRedisLog({ url: through(url, proxy), prefix: api.prefix });
    const tap = await Tap.open(api.log, 'ann');
    const { cursor } = await tap.next();
    tap[Symbol.dispose]();
    proxy.cut();
    await eventually('the worker notices', () =>
      worker.log.append([entry('ann', 1)]).then(
        () => false,
        () => true,
      ),
    );
    proxy.heal();
    await eventually('the worker is back', () =>
      worker.log.watched(['ann']).then(
        () => true,
        () => false,
      ),
    );
    using again = await Tap.open(api.log, 'ann', cursor);
    expect((await again.take(2)).map(label)).toEqual(['ready', 'resync log-interrupted']);
  });

  it('treats a failed query of watched readers as a gap', async () => {
    await using proxy = await startTcpProxy(url);
    await using api = await openRedisLog({ url });
    await using worker = await openRedisLog({ url: through(url, proxy), prefix: api.prefix });
    using tap = await Tap.open(api.log, 'ann');
    proxy.cut();
    await eventually('the worker notices', () =>
      worker.log.watched(['ann']).then(
        () => false,
        () => true,
      ),
    );
    proxy.heal();
    expect(await tap.labels(2)).toEqual(['ready', 'resync log-interrupted']);
  });

  it('announces a gap of very many readers to all of them', async () => {
    await using proxy = await startTcpProxy(url);
    await using api = await openRedisLog({ url, renewEveryMs: 20 });
    await using worker = await openRedisLog({ url: through(url, proxy), prefix: api.prefix });
    using tap = await Tap.open(api.log, 'ann');
    const crowd = numbers(1, 10_001).map((n) => `u${String(n)}`);
    proxy.cut();
    await eventually('the worker notices', () =>
      worker.log.watched(crowd).then(
        () => false,
        () => true,
      ),
    );
    proxy.heal();
    expect(await tap.labels(2)).toEqual(['ready', 'resync log-lost']);
  });
});

describe('a connection that dies without being closed', () => {
  it('fails commands in bounded time, and everything resumes with the network', async () => {
    await using proxy = await startTcpProxy(url);
    await using api = await openRedisLog({
      url: through(url, proxy),
      renewEveryMs: 50,
      commandTimeoutMs: 200,
    });
    await using worker = await openRedisLog({ url, prefix: api.prefix });
    using tap = await Tap.open(api.log, 'ann');
    await tap.next();
    proxy.freeze();
    await worker.log.append(entries('ann', 1, 5));
    await expect(api.log.append([entry('zoe', 1)])).rejects.toThrow(LiveLogUnavailable);
    await expect(Tap.open(api.log, 'bob')).rejects.toThrow(LiveLogUnavailable);
    proxy.heal();
    expect(await tap.labels(5)).toEqual(numbers(1, 5));
    await worker.log.append([entry('ann', 6)]);
    expect(await tap.labels(1)).toEqual([6]);
  });
});

describe('a subscription that is not acknowledged', () => {
  it('makes watch reject, and leaves nothing behind', async () => {
    await using proxy = await startTcpProxy(url);
    await using direct = await connectRedis({ url });
    await using dead = await connectRedis({ url: through(url, proxy), commandTimeoutMs: 200 });
    const redis = { ...direct, subscriber: dead.subscriber };
    await using log = new RedisLiveLog({ redis, prefix: `test:${randomUUID()}:` });
    proxy.freeze();
    await expect(Tap.open(log, 'ann')).rejects.toThrow(LiveLogUnavailable);
    expect(log.usage).toEqual({ watchers: 0, readers: 0, channels: 0, timers: 0 });
  });
});

describe('a Redis that crashes and restarts', () => {
  it('rejects at once meanwhile; afterwards watchers resync and resume', async () => {
    await using server = await startRedisProcess();
    await using api = await openRedisLog({ url: server.url });
    using tap = await Tap.open(api.log, 'ann');
    await api.log.append([entry('ann', 1)]);
    const [, first] = await tap.take(2);
    await server.kill();
    await expect(api.log.watched(['ann'])).rejects.toThrow(LiveLogUnavailable);
    await expect(api.log.append([entry('ann', 2)])).rejects.toThrow(LiveLogUnavailable);
    await expect(Tap.open(api.log, 'ann')).rejects.toThrow(LiveLogUnavailable);
    await server.restart();
    expect(await tap.labels(1)).toEqual(['resync log-lost']);
    await eventually('the worker is back', () =>
      api.log.watched(['ann']).then(
        (ids) => ids.length === 1,
        () => false,
      ),
    );
    using again = await Tap.reopen(api.log, 'ann', first?.cursor);
    expect(await again.labels(2)).toEqual(['ready', 'resync log-lost']);
    await eventually('appending works again', () =>
      api.log.append([entry('ann', 3)]).then(
        () => true,
        () => false,
      ),
    );
    expect((await again.until(3)).map(label).filter((one) => typeof one === 'number')).toEqual([3]);
    expect((await tap.until(3)).map(label).filter((one) => typeof one === 'number')).toEqual([3]);
  });

  it('with an old snapshot has every key but not the latest events, and reports a loss', async () => {
    await using server = await startRedisProcess();
    await using api = await openRedisLog({ url: server.url });
    using tap = await Tap.open(api.log, 'ann');
    await api.log.append([entry('ann', 1)]);
    await api.redis.commands.save();
    await api.log.append([entry('ann', 2)]);
    const [, first, second] = await tap.take(3);
    await server.kill();
    await server.restart();
    expect(await tap.labels(1)).toEqual(['resync log-lost']);
    for (const message of [first, second]) {
      using again = await Tap.reopen(api.log, 'ann', message?.cursor);
      expect(await again.labels(2)).toEqual(['ready', 'resync log-lost']);
    }
  });

  it('registers many watchers again', async () => {
    await using server = await startRedisProcess();
    // A busy machine may take its time for so many.
    await using api = await openRedisLog({ url: server.url, commandTimeoutMs: 60_000 });
    const ids = numbers(1, 1500).map((n) => `u${String(n)}`);
    const taps = await Promise.all(ids.map((id) => Tap.open(api.log, id)));
    await Promise.all(taps.map((tap) => tap.next()));
    await server.kill();
    await server.restart();
    await Promise.all(taps.map(async (tap) => expect(await tap.labels(1)).toEqual(['resync log-lost'])));
    await api.log.append(ids.map((id) => entry(id, 1)));
    for (const tap of taps) {
      using open = tap;
      expect(await open.labels(1)).toEqual([1]);
    }
  });
});
