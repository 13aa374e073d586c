import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import {
  GET_HEALTH,
  holdConnection,
  holdOneOfEach,
  largeQueries,
  LARGE_QUERY,
  streamOf,
  upgradeOf,
  type HeldConnection,
} from '../support/held-connections.ts';
import { socketUrl, startTestHttp } from '../support/http.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { openGreetedSocket, openSocket, type TestSocket } from '../support/socket.ts';
import { wireBytes } from '../support/wire.ts';

const POLL = { timeout: PATIENCE_MS };

let app: TestApp;
let authorization = '';
beforeAll(async () => {
  app = await startTestApp({ worker: false });
  authorization = await bearer('reader');
});
afterAll(async () => app[Symbol.asyncDispose]());

async function bearer(sub: string, ...roles: 'service'[]): Promise<string> {
  return `Bearer ${await app.token(sub, roles.length === 0 ? undefined : roles)}`;
}

describe('closing', () => {
  test('does not wait for clients that keep a connection of any kind', async () => {
    // Whatever is waited for takes the whole time that requests in progress have.
    const server = await startTestHttp(app, { limits: { shutdownMs: PATIENCE_MS } });
    await using _held = await holdOneOfEach(server.port, authorization);
    const startedAt = performance.now();
    await server.close();
    expect(performance.now() - startedAt).toBeLessThan(PATIENCE_MS);
    await expect.poll(() => server.stats(), POLL).toMatchObject({ requests: 0, sockets: 0 });
  });
});

describe('a rejected upgrade', () => {
  test.each([
    ['of another path', upgradeOf('/nothing'), /^HTTP\/1.1 404 /],
    ['that is no handshake', upgradeOf('/graphql', { 'sec-websocket-key': null }), /^HTTP\/1.1 400 /],
  ])('%s leaves nothing open, though its client keeps its half', async (_what, bytes, answer) => {
    await using server = await startTestHttp(app, { limits: { maxConnections: 1 } });
    using held = await holdConnection(server.port, bytes);
    expect(await held.closed).toMatch(answer);
    // Its place is free: an upgraded connection would not give way.
    using next = await holdConnection(server.port, upgradeOf('/graphql'));
    await next.has(/101 Switching/);
  });
});

describe('a client that does not read', () => {
  const limits = { sendTimeoutMs: 500 };

  test.each([
    ['answers', (): Buffer => largeQueries(authorization, 30)],
    ['event streams', (): Buffer => largeQueries(authorization, 30, 'text/event-stream')],
  ])('is disconnected while it waits for %s', async (_what, requests) => {
    await using server = await startTestHttp(app, { limits });
    using held = await holdConnection(server.port);
    held.socket.pause();
    held.socket.write(requests());
    await expect.poll(() => server.stats().requests, POLL).toBe(1);
    await expect.poll(() => server.stats().requests, POLL).toBe(0);
    held.socket.resume();
    expect(await held.closed).toMatch(/^HTTP\/1.1 200 /);
  });

  test('is disconnected from its socket, though it answers pings', async () => {
    await using server = await startTestHttp(app, { limits: { ...limits, pingMs: 100 } });
    await using held = await openGreetedSocket(socketUrl(server), authorization.slice('Bearer '.length));
    held.socket.pause();
    const payload = { query: LARGE_QUERY };
    for (let n = 0; n < 15; n += 1) held.send({ type: 'subscribe', id: String(n), payload });
    const answering = setInterval(() => {
      held.socket.pong();
    }, 20);
    await expect.poll(() => server.stats().sockets, POLL).toBe(0);
    clearInterval(answering);
  });
});

describe('near the limit of connections', () => {
  const limits = { maxConnections: 16 };
  /** A request without a token whose body does not come to its end. */
  const UNFINISHED = (): Buffer => wireBytes({ body: '{"query":"{ __typename }"}' }).subarray(0, -5);
  const answersOthers = async ({ port }: { readonly port: number }): Promise<void> => {
    using other = await holdConnection(port, GET_HEALTH, { from: '127.0.0.2' });
    await other.has(/"ok"/);
  };

  test.each([
    ['without a request', '', /^$/],
    ['kept alive after one', GET_HEALTH, /"ok"/],
    ['in the middle of headers', 'GET /health HTTP/1.1\r\nHost: x\r\n', /^$/],
  ])('a connection %s is closed, the one idle longest first', async (_what, bytes, answer) => {
    await using server = await startTestHttp(app, { limits });
    const held: HeldConnection[] = [];
    for (let n = 0; n < limits.maxConnections; n += 1) {
      held.push(await holdConnection(server.port, bytes));
      await held[n]?.has(answer);
    }
    await answersOthers(server);
    expect(await held[0]?.closed).toMatch(answer);
    for (const one of held) one[Symbol.dispose]();
  });

  test('requests without a token from one address get a share, and other addresses are not affected', async () => {
    await using server = await startTestHttp(app, { limits });
    const held: HeldConnection[] = [];
    for (let n = 0; n < limits.maxConnections; n += 1)
      held.push(await holdConnection(server.port, UNFINISHED()));
    const last = held.at(-1);
    await last?.has(/^HTTP\/1.1 429 [^]*"Too many connections of this address, try again in 1 s"/);
    await answersOthers(server);
    // A client that shows a token counts as its user, at any address.
    using user = await holdConnection(server.port, streamOf(authorization));
    await user.has(/event: next/);
    for (const one of held) one[Symbol.dispose]();
  });

  test('one user gets a share, and others at the same address are not affected', async () => {
    await using server = await startTestHttp(app, { limits });
    const [token, other] = [await app.token('greedy'), await app.token('modest')];
    const sockets: TestSocket[] = [];
    for (let n = 0; n < limits.maxConnections / 2; n += 1)
      sockets.push(await openGreetedSocket(socketUrl(server), token));
    await using refused = await openSocket(socketUrl(server));
    refused.send({ type: 'connection_init', payload: { token } });
    expect(await refused.closed).toEqual({
      ...{ code: 1013, reason: 'Too many connections of this user, try again in 1 s' },
    });
    await using _welcome = await openGreetedSocket(socketUrl(server), other);
    for (const socket of sockets) await socket[Symbol.asyncDispose]();
  });
});
