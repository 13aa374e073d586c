import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { connectRedis } from '../../src/connections/redis.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startTestHttp } from '../support/http.ts';
import { feedOf, publish, upsert } from '../support/feed-api.ts';
import { openWatcher, watchFeed, type Transport } from '../support/live-clients.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const TRANSPORTS: readonly Transport[] = ['WebSocket', 'SSE'];

async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('It did not come to be so');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Names of the pub/sub channels by which anybody hears of the readers of this app. */
async function channelsOf(app: TestApp): Promise<string[]> {
  await using redis = await connectRedis({ url: app.env['REDIS_URL'] ?? '' });
  const pattern = `*${app.database}:live:hints:*`;
  return (await redis.commands.call('PUBSUB', 'CHANNELS', pattern)) as string[];
}

test('delivers an action from one process through a separate worker to watchers on two others', async () => {
  await using first = await startTestApp({ worker: false });
  await using second = await startTestApp({ worker: false, database: first.database });
  await upsert(first, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
  await using bySocket = await watchFeed('WebSocket', first, 'ann');
  await using byStream = await watchFeed('SSE', second, 'ann');
  const waiting = await publish(first);
  {
    await using _worker = await startTestApp({ api: false, database: first.database });
    const [one, other] = [await bySocket.next(), await byStream.next()];
    const [item] = await feedOf(second, 'ann');
    expect(item?.action.id).toBe(waiting);
    expect(one).toMatchObject({ __typename: 'FeedItemAdded', item });
    expect(other).toEqual(one);
    const next = await publish(second);
    expect(await bySocket.next()).toMatchObject({ item: { action: { id: next } } });
    expect(await byStream.next()).toMatchObject({ item: { action: { id: next } } });
  }
});

test('resumes at another process', async () => {
  await using first = await startTestApp();
  await using second = await startTestApp({ worker: false, database: first.database });
  await upsert(first, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
  const watcher = await watchFeed('WebSocket', first, 'ann');
  await publish(first);
  const { cursor } = await watcher.next();
  await watcher[Symbol.asyncDispose]();
  const missed = await publish(first);
  await first.idle();
  await using again = await watchFeed('SSE', second, 'ann', { after: cursor });
  expect(await again.next()).toMatchObject({ __typename: 'FeedItemAdded', item: { action: { id: missed } } });
});

test.each(TRANSPORTS)('leaves nothing behind after watchers by %s have left', async (transport) => {
  await using app = await startTestApp();
  await upsert(app, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
  for (let round = 0; round < 3; round += 1) {
    const watchers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        watchFeed(transport, app, n % 2 === 0 ? 'ann' : `reader-${String(n)}`),
      ),
    );
    expect(app.app.http?.stats()).toMatchObject({
      subscriptions: 10,
      sockets: transport === 'WebSocket' ? 10 : 0,
    });
    expect((await channelsOf(app)).length).toBe(1);
    await publish(app);
    await watchers[0]?.next();
    await Promise.all(watchers.map((watcher) => watcher[Symbol.asyncDispose]()));
    await eventually(() => {
      const stats = app.app.http?.stats();
      return stats?.subscriptions === 0 && stats.sockets === 0 && stats.requests === 0;
    });
    await eventually(async () => (await channelsOf(app)).length === 0);
  }
  expect(app.log.filter((line) => /"level":"(?:warn|error|fatal)"/.test(line))).toEqual([]);
});

test.each(TRANSPORTS)('leaves nothing behind after a rejected subscription by %s', async (transport) => {
  await using app = await startTestApp({ worker: false });
  for (let round = 0; round < 5; round += 1) {
    await using watcher = await openWatcher(transport, app, 'ann', { filter: { tags: [''] } });
    await expect(watcher.next()).rejects.toThrow(/BAD_USER_INPUT/);
  }
  await eventually(() => app.app.http?.stats().subscriptions === 0 && app.app.http.stats().sockets === 0);
  expect(await channelsOf(app)).toEqual([]);
});

test('closes without waiting for a client that has connected but sends nothing', async () => {
  await using app = await startTestApp({ worker: false });
  // It is not this that ends the connection below.
  await using server = await startTestHttp(app, { limits: { shutdownMs: 3_600_000 } });
  const silent = connect(server.port, '127.0.0.1');
  await once(silent, 'connect');
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  const hungUp = once(silent, 'close');
  silent.resume();
  const closing = server.close();
  await hungUp;
  await closing;
});
