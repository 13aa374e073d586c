import { inspect } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { connectRedis } from '../../../src/connections/redis.ts';
import { eventually } from '../../conformance/live-log-tools.ts';
import { startTcpProxy, through } from './tcp-proxy.ts';

const url = inject('redisUrl');

describe('connecting to Redis', () => {
  it('answers pings on both connections and closes both, once', async () => {
    const events: string[] = [];
    const redis = await connectRedis({
      url,
      // It is not this that ends the command below.
      commandTimeoutMs: 600_000,
      onReady: (role) => events.push(`ready ${role}`),
      onLost: (role) => events.push(`lost ${role}`),
    });
    await redis.ping();
    await Promise.all([redis.close(), redis.close()]);
    await redis.close();
    expect([redis.commands.status, redis.subscriber.status]).toEqual(['end', 'end']);
    expect(events.sort()).toEqual(['ready commands', 'ready subscriber']);
    await expect(redis.ping()).rejects.toThrow();
  });

  it('names the server, without the password, if it does not respond', async () => {
    await using proxy = await startTcpProxy(url);
    proxy.cut();
    const address = `127.0.0.1:${String(proxy.port)}/3`;
    const failure = connectRedis({ url: `redis://user:secret@${address}` });
    await expect(failure).rejects.toThrow(`Cannot connect to Redis at redis://${address}`);
    await expect(failure).rejects.not.toThrow('secret');
  });

  it('says why it cannot connect, without the password', async () => {
    await using proxy = await startTcpProxy(url);
    const wrong = new URL(url);
    wrong.username = 'user';
    wrong.password = 'secret';
    const refused = await connectRedis({ url: wrong.href }).catch((error: unknown) => error);
    expect(refused).toHaveProperty('cause.message', expect.stringMatching(/^WRONGPASS /));
    expect(inspect(refused, { depth: null })).not.toContain('secret');
    await proxy[Symbol.asyncDispose]();
    const nobody = connectRedis({ url: through(url, proxy) });
    await expect(nobody).rejects.toHaveProperty('cause.message', expect.stringContaining('ECONNREFUSED'));
  });

  it.each(['', 'localhost', 'http://localhost:6379', 'mongodb://localhost'])(
    'rejects the URL "%s"',
    async (wrong) => {
      await expect(connectRedis({ url: wrong })).rejects.toThrow('must start with redis://');
    },
  );

  it('fails without waiting while the server is down, reports it, and works again afterwards', async () => {
    await using proxy = await startTcpProxy(url);
    const events: string[] = [];
    await using redis = await connectRedis({
      url: through(url, proxy),
      onReady: (role) => events.push(`ready ${role}`),
      onLost: (role) => events.push(`lost ${role}`),
    });
    proxy.cut();
    await eventually('both are lost', () => events.length === 4);
    await expect(redis.ping()).rejects.toThrow();
    proxy.heal();
    await eventually('both are back', () => events.length === 6);
    await redis.ping();
    expect(events.filter((one) => one === 'lost subscriber')).toHaveLength(1);
  });

  it('closes while the server is down', async () => {
    await using proxy = await startTcpProxy(url);
    const redis = await connectRedis({ url: through(url, proxy) });
    proxy.cut();
    await eventually('it is reconnecting', () => redis.commands.status === 'reconnecting');
    await redis.close();
    proxy.heal();
    await expect(redis.ping()).rejects.toThrow();
  });

  it('closes while the server accepts connections but does not respond', async () => {
    await using proxy = await startTcpProxy(url);
    const redis = await connectRedis({
      url: through(url, proxy),
      commandTimeoutMs: 200,
    });
    proxy.freeze();
    await redis.close();
  });
});
