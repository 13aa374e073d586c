import { expect, test } from 'vitest';
import { connectRedis } from '../../src/connections/redis.ts';
import { Closer } from '../../src/lib/closer.ts';
import { startRedisProcess } from '../integration/realtime/redis-process.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, feedOf, publish, upsert } from '../support/feed-api.ts';
import {
  openWatcher,
  watchFeed,
  type FeedWatcher,
  type ShownEvent,
  type Transport,
} from '../support/live-clients.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const TRANSPORTS: readonly Transport[] = ['WebSocket', 'SSE'];
const READER = { sub: 'ann' } as const;

async function readiness(app: TestApp): Promise<unknown> {
  const response = await fetch(`${app.url}/ready`);
  return [response.status, ((await response.json()) as { checks: unknown }).checks];
}

function becomesReady(app: TestApp): Promise<void> {
  return expect
    .poll(() => readiness(app), { timeout: PATIENCE_MS })
    .toEqual([200, { clock: 'ok', database: 'ok', redis: 'ok' }])
    .then(() => undefined);
}

/** Publishes until one of the actions is announced live: a worker that is not back yet announces a gap instead. */
async function hearsAgain(app: TestApp, watcher: FeedWatcher): Promise<void> {
  const published = new Set<string>();
  for (;;) {
    published.add(await publish(app));
    const event = await watcher.next();
    if (event.__typename === 'FeedResync') continue;
    expect(event).toMatchObject({ __typename: 'FeedItemAdded' });
    if (event.__typename === 'FeedItemAdded' && published.has(event.item.action.id)) return;
  }
}

/** The next event that is no count: of what was before, one may still come. */
async function withoutCounts(watcher: FeedWatcher): Promise<ShownEvent> {
  for (;;) {
    const event = await watcher.next();
    if (event.__typename !== 'UnreadCountChanged') return event;
  }
}

test('without Redis queries work, workers deliver and subscriptions pause; afterwards everything resumes', async () => {
  await using redis = await startRedisProcess();
  const env = { REDIS_URL: redis.url };
  await using api = await startTestApp({ env, worker: false });
  await using worker = await startTestApp({ env, api: false, database: api.database });
  await using crowd = new Closer();
  await upsert(api, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
  const watchers: FeedWatcher[] = [];
  for (const transport of TRANSPORTS)
    watchers.push(crowd.own(await watchFeed(transport, api, 'ann', { unread: true })));
  const before = await publish(api);
  const cursors: string[] = [];
  for (const watcher of watchers) {
    expect(await watcher.next()).toMatchObject({ item: { action: { id: before } } });
    const count = await watcher.next();
    expect(count).toMatchObject({ unread: { count: 1 } });
    cursors.push(count.cursor);
  }
  for (let round = 0; round < 2; round += 1) {
    await redis.kill();
    expect(await readiness(api)).toEqual([503, { clock: 'ok', database: 'ok', redis: 'failed' }]);
    // What is published meanwhile is delivered, and changes of one's own are made.
    const [meanwhile, hidden] = [await publish(api), await publish(api)];
    await worker.idle();
    await ask(
      api,
      'mutation ($id: ID!) { hideFeedItem(actionId: $id) { actionId } }',
      { id: hidden },
      READER,
    );
    await ask(
      api,
      'mutation ($upTo: DateTime!) { markFeedRead(upTo: $upTo) { lastRead } }',
      { upTo: new Date(0).toISOString() },
      READER,
    );
    const [first] = await feedOf(api, 'ann');
    expect(first?.action.id).toBe(meanwhile);
    // What is only in Redis.
    for (const figures of ['samples { at }', 'work { watchers }']) {
      const { errors } = await api.query(`{ ${figures} }`, {}, { sub: 'root', roles: ['admin'] });
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['UNAVAILABLE']);
    }
    for (const transport of TRANSPORTS) {
      await using refused = await openWatcher(transport, api, 'ann');
      await expect(refused.next()).rejects.toThrow(/UNAVAILABLE/);
    }
    await redis.restart();
    await becomesReady(api);
    // No silent gap: the resync comes before anything new, on the same subscription.
    for (const watcher of watchers)
      expect(await withoutCounts(watcher)).toMatchObject({
        __typename: 'FeedResync',
        reason: 'log-lost',
      });
    await using plain = await watchFeed('SSE', api, 'ann');
    await hearsAgain(api, plain);
    await worker.idle();
    for (const after of cursors) {
      await using again = await watchFeed('WebSocket', api, 'ann', { after });
      expect(await again.next()).toMatchObject({ __typename: 'FeedResync', reason: 'log-lost' });
    }
    // Up to something last; a resync of a worker that came back later may be in between.
    const last = await publish(api);
    for (const watcher of watchers)
      for (;;) {
        const event = await watcher.next();
        if (event.__typename === 'FeedItemAdded' && event.item.action.id === last) break;
      }
  }
});

test('live events come while Redis has no memory left, from the first one on', async () => {
  await using redis = await startRedisProcess();
  await using admin = await connectRedis({ url: redis.url });
  // Less than it uses empty.
  await admin.commands.config('SET', 'maxmemory', 1_000);
  await expect(admin.commands.set('key', 'value')).rejects.toThrow('OOM');
  await using app = await startTestApp({ env: { REDIS_URL: redis.url } });
  await becomesReady(app);
  await upsert(app, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
  await using watcher = await watchFeed('SSE', app, 'ann');
  const id = await publish(app);
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemAdded', item: { action: { id } } });
});

test('while Redis answers and refuses writes the server is not ready; afterwards it is, and watchers hear of it', async () => {
  await using redis = await startRedisProcess();
  await using admin = await connectRedis({ url: redis.url });
  const needReplicas = (count: number): Promise<unknown> =>
    admin.commands.config('SET', 'min-replicas-to-write', count);
  await using app = await startTestApp({ env: { REDIS_URL: redis.url } });
  await upsert(app, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
  await using watcher = await watchFeed('SSE', app, 'ann');
  await needReplicas(1);
  expect(await readiness(app)).toEqual([503, { clock: 'ok', database: 'ok', redis: 'failed' }]);
  await publish(app);
  await app.idle();
  await needReplicas(0);
  await becomesReady(app);
  // The worker announces the gap before its next event.
  await publish(app);
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedResync' });
  await hearsAgain(app, watcher);
});

test('a worker that starts without Redis waits for it, and a command gives up', async () => {
  await using redis = await startRedisProcess();
  const env = { REDIS_URL: redis.url };
  await using api = await startTestApp({ env, worker: false });
  await redis.kill();
  const options = { env, api: false, database: api.database };
  await expect(startTestApp(options)).rejects.toThrow('Cannot connect to Redis');
  await publish(api);
  const log: string[] = [];
  const starting = startTestApp({ ...options, waitsForRedis: true, log });
  await expect.poll(() => log.join(''), { timeout: PATIENCE_MS }).toContain('Redis cannot be reached');
  await redis.restart();
  await using worker = await starting;
  await worker.idle();
  expect(worker.log.join('')).toMatch(/Redis cannot be reached[^]*Redis is available again/);
  await becomesReady(api);
  await using watcher = await watchFeed('SSE', api, 'ann');
  await upsert(api, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
  await hearsAgain(api, watcher);
});
