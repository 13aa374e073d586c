import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { FeedReader } from '../../src/feed/feed-reader.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { socketUrl, startTestHttp } from '../support/http.ts';
import { openGreetedSocket } from '../support/socket.ts';
import { PATIENCE_MS } from '../support/patience.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ worker: false });
});
afterAll(async () => app[Symbol.asyncDispose]());

/** A core whose feeds are read when they are let go. */
function slowCore() {
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begun = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const { core } = app;
  const feedReader: FeedReader = {
    ...core.feedReader,
    async page(...args) {
      begun();
      await gate;
      return core.feedReader.page(...args);
    },
  };
  return { core: { ...core, feedReader }, started, release };
}

let readers = 0;
/** Of another reader each time: of one who has read before, the process knows the page. */
const nextReader = (): string => `reader-${String((readers += 1))}`;

async function feed(url: string, agent?: Parameters<typeof fetch>[1]) {
  return fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await app.token(nextReader())}` },
    body: JSON.stringify({ query: '{ feed { state } }' }),
    ...agent,
  });
}

test('lets requests in progress finish, and accepts no new ones', async () => {
  const { core, started, release } = slowCore();
  const server = await startTestHttp(app, { core });
  const answer = feed(server.url);
  await started;
  const closing = server.close();
  await expect(fetch(`${server.url}/health`)).rejects.toThrow('fetch failed');
  release();
  const response = await answer;
  expect(response.headers.get('connection')).toBe('close');
  expect(await response.json()).toEqual({ data: { feed: { state: 'READY' } } });
  await closing;
  expect(server.stats()).toEqual({ requests: 0, sockets: 0, subscriptions: 0, bodyBytes: 0, answerBytes: 0 });
});

test('does not wait for ever', async () => {
  const { core, started, release } = slowCore();
  const server = await startTestHttp(app, { core, limits: { shutdownMs: 50 } });
  const answer = expect(feed(server.url)).rejects.toThrow('fetch failed');
  await started;
  await server.close();
  await answer;
  release();
});

/** A connection by hand; `text` is what has come back so far. */
async function connectTo(port: number) {
  const socket = connect(port, '127.0.0.1');
  const state = { socket, text: '', ended: once(socket, 'close') };
  socket.on('data', (data: Buffer) => {
    state.text += data.toString();
  });
  await once(socket, 'connect');
  return state;
}

test('accepts nothing more on the connection of a request in progress', async () => {
  const { core, started, release } = slowCore();
  const server = await startTestHttp(app, { core });
  const connection = await connectTo(server.port);
  const body = JSON.stringify({ query: '{ feed { state } }' });
  connection.socket.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await app.token(nextReader())}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}` +
      'GET /health HTTP/1.1\r\nHost: x\r\n\r\n',
  );
  await started;
  const closing = server.close();
  release();
  await closing;
  await connection.ended;
  expect(connection.text).toContain('"state":"READY"');
  expect(connection.text).not.toContain('"status":"ok"');
});

test('reports that it is not ready to a concurrent probe', async () => {
  const server = await startTestHttp(app);
  const connection = await connectTo(server.port);
  connection.socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /ready HTTP/1.1\r\nHost: x\r\n');
  await once(connection.socket, 'data');
  const closing = server.close();
  connection.socket.write('\r\n');
  await closing;
  await connection.ended;
  expect(connection.text).toMatch(/HTTP\/1.1 503 [^]*"status":"closing"/);
});

test('closes idle connections, sockets and streams at once', async () => {
  const server = await startTestHttp(app);
  const idle = connect(server.port, '127.0.0.1');
  idle.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(idle, 'data');
  const token = await app.token(nextReader());
  await using socket = await openGreetedSocket(socketUrl(server), token);
  socket.send({ type: 'subscribe', id: '1', payload: { query: 'subscription { feedEvents { cursor } }' } });
  await socket.next();
  const stream = request(`${server.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
    },
  });
  stream.end(JSON.stringify({ query: 'subscription { feedEvents { cursor } }' }));
  const [response] = (await once(stream, 'response')) as [NodeJS.ReadableStream];
  const broken = once(response, 'error');
  response.resume();
  expect(server.stats()).toMatchObject({ sockets: 1, subscriptions: 2 });
  await server.close();
  expect(await socket.closed).toEqual({ code: 1001, reason: 'Going away' });
  expect(String((await broken)[0])).toContain('aborted');
  await vi.waitUntil(() => server.stats().subscriptions === 0, { timeout: PATIENCE_MS });
  expect(server.stats()).toEqual({ requests: 0, sockets: 0, subscriptions: 0, bodyBytes: 0, answerBytes: 0 });
});

test('does not wait for a socket without a close frame', async () => {
  const server = await startTestHttp(app);
  await using socket = await openGreetedSocket(socketUrl(server), await app.token(nextReader()));
  socket.socket.pause();
  await server.close();
  expect(server.stats().sockets).toBe(0);
});

test('can be closed twice, and concurrently', async () => {
  const server = await startTestHttp(app);
  await Promise.all([server.close(), server.close()]);
  await server.close();
});

test('reports a port in use', async () => {
  await using server = await startTestHttp(app);
  await expect(startTestHttp(app, { port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
