import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startTestHttp } from '../support/http.ts';
import { makeKey, startKeyServer } from '../support/key-server.ts';
import { PATIENCE_MS } from '../support/patience.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ worker: false });
});
afterAll(async () => app[Symbol.asyncDispose]());

const WAIT = { timeout: PATIENCE_MS, interval: 20 };

async function status(server: { readonly url: string }, token: string): Promise<number> {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: '{ viewer { memberId } }' }),
  });
  await response.text();
  return response.status;
}

test('a key removed from the set becomes invalid, also for cached claims', async () => {
  const [kept, removed] = [await makeKey('kept'), await makeKey('removed')];
  await using keys = await startKeyServer([kept.jwk, removed.jwk]);
  await using server = await startTestHttp(app, { auth: { jwksUri: keys.uri, maxAgeMs: 200 } });
  const [good, bad] = [await kept.sign('rita'), await removed.sign('rita')];
  expect(await status(server, good)).toBe(200);
  expect(await status(server, bad)).toBe(200);
  keys.keys = [kept.jwk];
  await expect.poll(() => status(server, bad), WAIT).toBe(401);
  expect(await status(server, good)).toBe(200);
});

test.each(['failing', 'hanging'] as const)('known keys stay valid while their server is %s', async (mode) => {
  const key = await makeKey('k1');
  await using keys = await startKeyServer([key.jwk]);
  await using server = await startTestHttp(app, { auth: { jwksUri: keys.uri, maxAgeMs: 100 } });
  expect(await status(server, await key.sign('rita'))).toBe(200);
  const { requests } = keys;
  keys.mode = mode;
  // It has been asked in vain: what is known is older than promised.
  await expect
    .poll(async () => [await status(server, await key.sign('rita')), keys.requests > requests], WAIT)
    .toEqual([200, true]);
  expect(await status(server, await key.sign('somebody'))).toBe(200);
});

test('an endless response is not read to its end', async () => {
  const key = await makeKey('k1');
  await using keys = await startKeyServer([key.jwk]);
  await using server = await startTestHttp(app, { auth: { jwksUri: keys.uri, maxAgeMs: 100 } });
  keys.mode = 'endless';
  expect(await status(server, await key.sign('rita'))).toBe(503);
  keys.mode = 'up';
  await expect.poll(async () => status(server, await key.sign('rita')), WAIT).toBe(200);
});

test('known keys stay valid for a limited time, and again once their server is back', async () => {
  const key = await makeKey('k1');
  await using keys = await startKeyServer([key.jwk]);
  const auth = { jwksUri: keys.uri, maxAgeMs: 100, maxStaleMs: 400 };
  await using server = await startTestHttp(app, { auth });
  const token = await key.sign('rita');
  expect(await status(server, token)).toBe(200);
  keys.mode = 'failing';
  await expect.poll(() => status(server, token), WAIT).toBe(503);
  keys.mode = 'up';
  await expect.poll(() => status(server, token), WAIT).toBe(200);
});

test('a broken key does not affect the others, and becomes valid when corrected', async () => {
  const [whole, mended] = [await makeKey('whole'), await makeKey('mended')];
  const broken = { ...mended.jwk, x: 'AAAA' };
  await using keys = await startKeyServer([broken, null, { kty: 'RSA', kid: 'rsa' }, whole.jwk]);
  await using server = await startTestHttp(app, { auth: { jwksUri: keys.uri, maxAgeMs: 200 } });
  expect(await status(server, await whole.sign('rita'))).toBe(200);
  expect(await status(server, await whole.sign('rita', null))).toBe(200);
  expect(await status(server, await mended.sign('rita'))).toBe(503);
  keys.keys = [whole.jwk, mended.jwk];
  await expect.poll(async () => status(server, await mended.sign('rita')), WAIT).toBe(200);
});

test('a new key of the set is found', async () => {
  const [first, second] = [await makeKey('first'), await makeKey('second', 'RS256')];
  await using keys = await startKeyServer([first.jwk]);
  await using server = await startTestHttp(app, { auth: { jwksUri: keys.uri, maxAgeMs: 200 } });
  expect(await status(server, await first.sign('rita'))).toBe(200);
  keys.keys = [first.jwk, second.jwk];
  await expect.poll(async () => status(server, await second.sign('rita')), WAIT).toBe(200);
});

test('a token without kid is valid with any key of the set', async () => {
  const [first, second, stranger] = [await makeKey('first'), await makeKey('second'), await makeKey('third')];
  await using keys = await startKeyServer([first.jwk, second.jwk]);
  await using server = await startTestHttp(app, { auth: { jwksUri: keys.uri } });
  expect(await status(server, await second.sign('rita', null))).toBe(200);
  expect(await status(server, await stranger.sign('rita', null))).toBe(401);
});

test('tokens with unknown keys do not cause repeated fetches', async () => {
  const [key, stranger] = [await makeKey('k1'), await makeKey('k2')];
  await using keys = await startKeyServer([key.jwk]);
  await using server = await startTestHttp(app, { auth: { jwksUri: keys.uri } });
  for (let n = 0; n < 20; n += 1)
    expect(await status(server, await stranger.sign(`u${String(n)}`))).toBe(401);
  expect(keys.requests).toBeLessThanOrEqual(2);
});

test('several processes with the same settings agree', async () => {
  const [kept, removed] = [await makeKey('kept'), await makeKey('removed')];
  await using keys = await startKeyServer([kept.jwk, removed.jwk]);
  const env = { JWT_SECRET: '', JWKS_URI: keys.uri, JWKS_MAX_AGE: '1s' };
  await using one = await startTestApp({ worker: false, env });
  await using two = await startTestApp({ worker: false, env, database: one.database });
  const token = await removed.sign('rita');
  for (const each of [one, two]) expect(await status(each, token)).toBe(200);
  keys.keys = [kept.jwk];
  for (const each of [one, two]) await expect.poll(() => status(each, token), WAIT).toBe(401);
});
