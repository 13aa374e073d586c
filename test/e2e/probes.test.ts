import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startTestHttp } from '../support/http.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { skewed } from '../support/skewed.ts';

const PATIENTLY = { timeout: PATIENCE_MS };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ worker: false });
});
afterAll(async () => app[Symbol.asyncDispose]());

async function get(url: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url);
  return { status: response.status, body: await response.json() };
}

test('reports that it is alive', async () => {
  expect(await get(`${app.url}/health`)).toEqual({ status: 200, body: { status: 'ok' } });
});

test('is ready if database and Redis respond', async () => {
  expect(await get(`${app.url}/ready`)).toEqual({
    status: 200,
    body: { status: 'ready', checks: { clock: 'ok', database: 'ok', redis: 'ok' } },
  });
});

test('is alive but not ready if one of them does not', async () => {
  await using server = await startTestHttp(app, {
    probes: { database: () => Promise.resolve(), redis: () => Promise.reject(new Error('Gone')) },
  });
  expect(await get(`${server.url}/ready`)).toEqual({
    status: 503,
    body: { status: 'not ready', checks: { database: 'ok', redis: 'failed' } },
  });
  expect((await get(`${server.url}/health`)).status).toBe(200);
});

test('is not ready if one of them hangs', async () => {
  await using server = await startTestHttp(app, { probes: { database: () => new Promise(() => undefined) } });
  expect(await get(`${server.url}/ready`)).toMatchObject({
    status: 503,
    body: { checks: { database: 'failed' } },
  });
});

test.each([
  ['ahead', 1],
  ['behind', -1],
])(
  "is not ready while the machine's clock is far %s of the database's, and is again once it is right",
  async (_way, sign) => {
    const ready = () => get(`${app.url}/ready`);
    await expect
      .poll(() => skewed(sign * 60_000, ready), PATIENTLY)
      .toEqual({
        status: 503,
        body: { status: 'not ready', checks: { clock: 'failed', database: 'ok', redis: 'ok' } },
      });
    expect((await skewed(sign * 15_000, ready)).status).toBe(200);
    expect((await ready()).status).toBe(200);
  },
);

test('reports requests to Prometheus', async () => {
  await app.query('query Metered { viewer { memberId } }');
  await app.query('query Metered { nothing }');
  const response = await fetch(`${app.url}/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain');
  const page = await response.text();
  expect(page).toContain('fanfare_graphql_requests_total{operation="Metered",code="OK"} 1');
  expect(page).toContain('fanfare_graphql_requests_total{operation="Metered",code="BAD_USER_INPUT"} 1');
});

test('answers HEAD, and rejects writes', async () => {
  for (const path of ['/health', '/ready', '/metrics']) {
    expect((await fetch(`${app.url}${path}`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${app.url}${path}`, { method: 'POST' })).status).toBe(405);
  }
});

test('needs no token and reveals no secret', async () => {
  const page = await (await fetch(`${app.url}/metrics`)).text();
  expect(page).not.toContain('mongodb://');
});
