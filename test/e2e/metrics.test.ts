import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startMetricsServer } from '../../src/http/pages/metrics-server.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startTestHttp } from '../support/http.ts';
import { PATIENCE_MS } from '../support/patience.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ worker: false });
});
afterAll(async () => app[Symbol.asyncDispose]());

/** Metrics that count how often they are made. */
function countedMetrics() {
  const metrics = createMetrics({ withProcess: false });
  const made = { times: 0 };
  metrics.watchPending(() => {
    made.times += 1;
    return Promise.resolve({ LIVE: 0 });
  });
  return { metrics, made };
}

/** Sends a request many times at once on one connection; resolves with all that came back when it is closed. */
async function pipeline(port: number, path: string, times: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(times));
  await once(socket, 'close');
  return text;
}

const answers = (text: string, status: number): number =>
  text.split(`HTTP/1.1 ${String(status)} `).length - 1;

describe('the page', () => {
  test('is computed once for concurrent requests, and soon afterwards', async () => {
    const { metrics, made } = countedMetrics();
    await using server = await startTestHttp(app, { metrics });
    const ask = async (): Promise<number> => (await fetch(`${server.url}/metrics`)).status;
    expect(new Set(await Promise.all(Array.from({ length: 100 }, ask)))).toEqual(new Set([200]));
    expect(made.times).toBeLessThan(60);
    await expect
      .poll(
        async () => {
          await ask();
          return made.times;
        },
        { timeout: PATIENCE_MS },
      )
      .toBeGreaterThan(1);
  });

  test('is computed again after a failure', async () => {
    const { metrics } = countedMetrics();
    let fails = true;
    const page = { ...metrics, metrics: () => (fails ? Promise.reject(new Error('No')) : metrics.metrics()) };
    await using server = await startTestHttp(app, { metrics: page });
    expect((await fetch(`${server.url}/metrics`)).status).toBe(500);
    fails = false;
    expect((await fetch(`${server.url}/metrics`)).status).toBe(200);
  });

  test('requires the token if one is set', async () => {
    await using metered = await startTestApp({
      worker: false,
      env: { METRICS_TOKEN: 'a-token-of-the-scraper' },
    });
    const ask = async (authorization?: string): Promise<number> =>
      (
        await fetch(`${metered.url}/metrics`, {
          headers: authorization === undefined ? {} : { authorization },
        })
      ).status;
    expect(await ask()).toBe(401);
    expect(await ask('Bearer another-token-of-16')).toBe(401);
    expect(await ask(`Bearer ${await metered.token('admin', ['admin'])}`)).toBe(401);
    expect(await ask('Bearer a-token-of-the-scraper')).toBe(200);
    expect(metered.log.join('')).not.toContain('a-token-of-the-scraper');
  });

  test('moves to a separate port, with its token and the probes, and away from that of the API', async () => {
    await using metered = await startTestApp({
      worker: false,
      env: { METRICS_PORT: '0', METRICS_TOKEN: 'a-token-of-the-scraper' },
    });
    expect((await fetch(`${metered.url}/metrics`)).status).toBe(404);
    const [, url = ''] = /"url":"([^"]+\/metrics)"/.exec(metered.log.join('')) ?? [];
    expect((await fetch(url)).status).toBe(401);
    const page = await fetch(url, { headers: { authorization: 'Bearer a-token-of-the-scraper' } });
    expect(await page.text()).toContain('fanfare_graphql_requests_total');
    expect((await fetch(new URL('/graphql', url))).status).toBe(404);
    expect(await (await fetch(new URL('/health', url))).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(new URL('/ready', url))).json()).toMatchObject({ status: 'ready' });
  });

  test('is served by a worker without an API too', async () => {
    await using worker = await startTestApp({ api: false, env: { METRICS_PORT: '0' } });
    const [, url = ''] = /"url":"([^"]+\/metrics)"/.exec(worker.log.join('')) ?? [];
    expect(await (await fetch(url)).text()).toContain('fanfare_fan_out_deliveries_total');
  });
});

describe('a client that pipelines', () => {
  test('gets some answers, then the connection is closed', async () => {
    const { metrics } = countedMetrics();
    await using server = await startTestHttp(app, { metrics, limits: { maxPipelined: 10 } });
    const text = await pipeline(server.port, '/metrics', 3_000);
    expect(answers(text, 200)).toBe(11);
    expect(answers(text, 429)).toBe(1);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    expect(server.stats().requests).toBe(0);
  });

  test('gets all answers in order within the limit', async () => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const paths = ['/health', '/ready', '/nothing', '/health'];
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
    await expect
      .poll(() => [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status), {
        timeout: PATIENCE_MS,
      })
      .toEqual(['200', '200', '404', '200']);
    socket.destroy();
  });

  test('has its requests answered one at a time, and none after it has left', async () => {
    const open = new Set<() => void>();
    let asked = 0;
    const probe = (): Promise<void> => {
      asked += 1;
      return new Promise((resolve) => open.add(resolve));
    };
    await using server = await startTestHttp(app, { probes: { slow: probe } });
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /ready HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
    await expect.poll(() => asked, { timeout: PATIENCE_MS }).toBe(1);
    expect(server.stats().requests).toBe(1);
    socket.resetAndDestroy();
    await expect.poll(() => server.stats().requests, { timeout: PATIENCE_MS }).toBe(0);
    for (const release of open) release();
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    expect(asked).toBe(1);
  });
});

test('a metrics port in use is reported with its setting, since there are two ports', async () => {
  await using page = await startTestHttp(app);
  const { port } = new URL(page.url);
  const metrics = createMetrics({ withProcess: false });
  const logger = createLogger({ level: 'silent' });
  const readiness = () => Promise.resolve({ isReady: true, checks: {} });
  const starting = startMetricsServer({
    ...{ host: '127.0.0.1', port: Number(port), metrics, logger, readiness },
  });
  await expect(starting).rejects.toThrow(`METRICS_PORT=${port} cannot be used`);
  await expect(starting).rejects.toHaveProperty('cause.code', 'EADDRINUSE');
});
