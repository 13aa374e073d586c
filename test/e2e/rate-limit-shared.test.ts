import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRedisProcess } from '../integration/realtime/redis-process.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { openGreetedSocket } from '../support/socket.ts';
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

async function codes(app: TestApp, times: number, sub = 'busy'): Promise<string[]> {
  const found: string[] = [];
  for (let n = 0; n < times; n += 1) {
    const { errors } = await app.query('{ viewer { memberId } }', {}, { sub });
    found.push(errors[0]?.extensions.code ?? 'OK');
  }
  return found;
}

test.each(KINDS)('several processes on %s count together', async (_kind, redis) => {
  const env = { RATE_LIMIT: '4/1h', ...redis() };
  await using one = await startTestApp({ worker: false, env });
  await using two = await startTestApp({ worker: false, env, database: one.database });
  expect(await codes(one, 2)).toEqual(['OK', 'OK']);
  expect(await codes(two, 3)).toEqual(['OK', 'OK', 'RATE_LIMITED']);
  expect(await codes(one, 2)).toEqual(['RATE_LIMITED', 'RATE_LIMITED']);
  expect(await codes(one, 1, 'another')).toEqual(['OK']);
  // Another installation on the same Redis counts for itself.
  await using stranger = await startTestApp({ worker: false, env });
  expect(await codes(stranger, 1)).toEqual(['OK']);
});

test('a new window gives a new allowance', async () => {
  await using app = await startTestApp({ worker: false, env: { RATE_LIMIT: '1/1500ms' } });
  // Databases of tests are lent out again, and with them the prefix: the windows of an hour above still run.
  const sub = 'patient';
  // The window of a second and a half is counted as one of two seconds with a share of one.
  await expect.poll(() => codes(app, 5, sub), { timeout: PATIENCE_MS }).toContain('RATE_LIMITED');
  await expect.poll(() => codes(app, 1, sub), { timeout: PATIENCE_MS }).toEqual(['OK']);
});

const SMALL = '{ viewer { memberId } }';
/** Asks for a hundred items and what belongs to them. */
const LARGE = '{ feed(first: 100) { edges { node { action { actor { name } } } } } }';

async function post(app: TestApp, query: string, sub: string) {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await app.token(sub)}` },
    body: JSON.stringify({ query }),
  });
  const { errors = [] } = (await response.json()) as {
    errors?: { message: string; extensions: { code: string } }[];
  };
  const [limit, policy, retryAfter] = ['ratelimit', 'ratelimit-policy', 'retry-after'].map((name) =>
    response.headers.get(name),
  );
  return {
    status: response.status,
    code: errors[0]?.extensions.code ?? 'OK',
    message: errors[0]?.message ?? '',
    ...{ limit, policy, retryAfter },
  };
}

/** What is left of each policy, and in how many seconds it is whole again. */
function leftOf(limit: string | null | undefined): Record<string, { r: number; t: number }> {
  const items = (limit ?? '').split(', ').map((item) => /^"([\w-]+)";r=(\d+);t=(\d+)$/.exec(item) ?? []);
  const left: Record<string, { r: number; t: number }> = {};
  for (const [, name = '', r, t] of items) left[name] = { r: Number(r), t: Number(t) };
  return left;
}

test.each(KINDS)(
  'the cost of operations is counted by all processes on %s together, and headers report the rest',
  async (_kind, redis) => {
    const env = { RATE_LIMIT: '100/1h', RATE_LIMIT_COST: '600/1h', ...redis() };
    await using one = await startTestApp({ worker: false, env });
    await using two = await startTestApp({ worker: false, env, database: one.database });
    const sub = `thrifty-${crypto.randomUUID()}`;
    const first = await post(one, SMALL, sub);
    expect(first).toMatchObject({
      code: 'OK',
      policy: '"user";q=100;w=3600, "user-cost";q=600;w=3600;fanfare-unit="objects"',
    });
    const before = leftOf(first.limit);
    expect(before).toMatchObject({ user: { r: 99 } });
    const second = await post(two, LARGE, sub);
    const after = leftOf(second.limit);
    expect(after).toMatchObject({ user: { r: 98 } });
    expect((before['user-cost']?.r ?? 0) - (after['user-cost']?.r ?? 0)).toBeGreaterThan(300);
    expect(after['user-cost']?.t).toBeGreaterThan(0);

    const refused = await post(one, LARGE, sub);
    expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(refused.message).toMatch(/^Operations request too many objects, try again in \d+ s$/);
    const { 'user-cost': cost } = leftOf(refused.limit);
    // What is refused takes nothing: a smaller operation is possible.
    expect(cost).toEqual({ r: after['user-cost']?.r, t: Number(refused.retryAfter) });
    // Somebody else has a share of their own.
    expect(await post(two, LARGE, `${sub}-else`)).toMatchObject({ code: 'OK' });
  },
);

test('an operation that costs more than the allowance can run once per window', async () => {
  await using app = await startTestApp({ worker: false, env: { RATE_LIMIT_COST: '50/1h' } });
  const sub = `lavish-${crypto.randomUUID()}`;
  expect(await post(app, LARGE, sub)).toMatchObject({ code: 'OK', limit: expect.stringContaining(';r=0;') });
  expect(await post(app, SMALL, sub)).toMatchObject({ code: 'RATE_LIMITED' });
});

test('operations on sockets and subscriptions are counted with those over HTTP', async () => {
  await using app = await startTestApp({ worker: false, env: { RATE_LIMIT_COST: '2/1h' } });
  const sub = `socket-${crypto.randomUUID()}`;
  await using socket = await openGreetedSocket(app.wsUrl, await app.token(sub));
  const payload = { query: 'subscription { feedEvents { cursor } }' };
  socket.send({ type: 'subscribe', id: '1', payload });
  expect(await socket.next()).toMatchObject({ type: 'next', id: '1' });
  expect(await post(app, SMALL, sub)).toMatchObject({ code: 'OK' });
  socket.send({ type: 'subscribe', id: '2', payload });
  expect(await socket.next()).toMatchObject({
    ...{ type: 'error', id: '2' },
    payload: [{ extensions: { code: 'RATE_LIMITED' } }],
  });
});

test('each process counts alone while Redis is unavailable', async () => {
  await using redis = await startRedisProcess();
  await using app = await startTestApp({
    worker: false,
    env: { RATE_LIMIT: '3/1h', RATE_LIMIT_COST: '600/1h', REDIS_URL: redis.url },
  });
  expect(await codes(app, 1)).toEqual(['OK']);
  await redis.kill();
  const after = await codes(app, 5);
  expect(after.slice(0, 2)).toEqual(['OK', 'OK']);
  expect(after.at(-1)).toBe('RATE_LIMITED');
  expect(await post(app, LARGE, 'thrifty')).toMatchObject({ code: 'OK' });
  expect(await post(app, LARGE, 'thrifty')).toMatchObject({
    code: 'RATE_LIMITED',
    message: expect.stringMatching(/^Operations request too many objects/),
  });
});
