import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { openWatcher, watchFeed } from '../support/live-clients.ts';
import { openGreetedSocket } from '../support/socket.ts';
import { startRedisProcess } from '../integration/realtime/redis-process.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { startValkeyCluster, type ValkeyCluster } from '../support/valkey-cluster.ts';

let cluster: ValkeyCluster;
beforeAll(async () => {
  cluster = await startValkeyCluster();
});
afterAll(async () => cluster[Symbol.asyncDispose]());

/** With the environment that names it. */
const KINDS: readonly [string, () => Readonly<Record<string, string>>][] = [
  ['one Redis', () => ({})],
  ['a Redis Cluster', () => ({ REDIS_URL: cluster.url })],
];

const ADMIN = { sub: 'root', roles: ['admin'] } as const;
const ERASE = 'mutation ($id: String!) { eraseMember(memberId: $id) }';
const WATCH = 'subscription { feedEvents { __typename } }';

async function subscribedSocket(app: TestApp, sub: string) {
  const socket = await openGreetedSocket(app.wsUrl, await app.token(sub));
  socket.send({ type: 'subscribe', id: '1', payload: { query: WATCH } });
  expect(await socket.next()).toMatchObject({
    payload: { data: { feedEvents: { __typename: 'FeedReady' } } },
  });
  return socket;
}

function noSubscriptions(...apps: readonly TestApp[]): Promise<void> {
  return expect
    .poll(() => apps.map(({ app }) => app.http?.stats().subscriptions), { timeout: PATIENCE_MS })
    .toEqual(apps.map(() => 0))
    .then(() => undefined);
}

test.each(KINDS)(
  'an erasure ends all open connections of the member, at every process on %s, and no others',
  async (_kind, redis) => {
    const env = redis();
    await using first = await startTestApp({ env });
    await using second = await startTestApp({ worker: false, database: first.database, env });
    await upsert(first, { members: [{ memberId: 'zoe', name: 'Zoe' }] });
    await using here = await subscribedSocket(first, 'zoe');
    await using there = await subscribedSocket(second, 'zoe');
    await using stream = await watchFeed('SSE', second, 'zoe');
    await using other = await watchFeed('SSE', second, 'ann');
    await using otherSocket = await watchFeed('WebSocket', first, 'ann');
    expect(await ask(second, ERASE, { id: 'zoe' }, ADMIN)).toEqual({ eraseMember: true });
    for (const { closed } of [here, there])
      expect(await closed).toEqual({ code: 4403, reason: 'The session was ended' });
    // What the erasure takes from their feed may be told before.
    const closingError = async (): Promise<never> => {
      for (;;) await stream.next();
    };
    await expect(closingError()).rejects.toThrow(/The session was ended.*UNAUTHENTICATED/);
    const id = await publish(first, { actorId: 'last', scope: 'RESTRICTED', recipients: ['ann'] });
    for (const watcher of [other, otherSocket])
      expect(await watcher.next()).toMatchObject({ item: { action: { id } } });
    await other[Symbol.asyncDispose]();
    await otherSocket[Symbol.asyncDispose]();
    await noSubscriptions(first, second);
  },
);

test('an erasure that cannot reach every process fails, and is completed as soon as it can', async () => {
  await using server = await startRedisProcess();
  await using app = await startTestApp({ env: { REDIS_URL: server.url } });
  await upsert(app, { members: [{ memberId: 'zoe', name: 'Zoe' }] });
  await using socket = await subscribedSocket(app, 'zoe');
  await using stream = await openWatcher('SSE', app, 'zoe');
  await stream.next();
  await server.kill();
  const { errors } = await app.query(ERASE, { id: 'zoe' }, ADMIN);
  expect(errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
  const erasure = async (): Promise<unknown> => {
    const answer = await ask<{ erasure: { state: string; step: string | null } }>(
      app,
      'query ($id: String!) { erasure(memberId: $id) { state step } }',
      { id: 'zoe' },
      ADMIN,
    );
    return answer.erasure;
  };
  // Everything else has been done.
  expect(await erasure()).toEqual({ state: 'RUNNING', step: 'PROFILE' });
  expect(app.app.http?.stats().subscriptions).toBe(2);
  await server.restart();
  expect(await socket.closed).toEqual({ code: 4403, reason: 'The session was ended' });
  const closingError = async (): Promise<never> => {
    for (;;) await stream.next();
  };
  await expect(closingError()).rejects.toThrow(/The session was ended/);
  await noSubscriptions(app);
  await expect.poll(erasure, { timeout: PATIENCE_MS }).toMatchObject({ state: 'CONFIRMING' });
});
