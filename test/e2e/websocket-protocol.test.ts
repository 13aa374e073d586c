import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import type { LiveMessages, WatchOptions } from '../../src/live/live-log.ts';
import { MemoryLiveLog } from '../support/memory-live-log.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { socketUrl, startTestHttp } from '../support/http.ts';
import { openGreetedSocket, openSocket, type TestSocket } from '../support/socket.ts';
import { signTestToken } from '../support/tokens.ts';
import { PATIENCE_MS } from '../support/patience.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ worker: false, env: { SUBSCRIPTIONS_PER_CONNECTION: '3', BODY_LIMIT: '4KiB' } });
});
afterAll(async () => app[Symbol.asyncDispose]());

const WATCH = { query: 'subscription { feedEvents { __typename cursor } }' };

/** A socket whose token ends as soon as this machine allows: it must last until the socket is acknowledged. */
async function openWithShortToken(
  seconds: number,
): Promise<{ readonly socket: TestSocket; readonly exp: number }> {
  const exp = Math.ceil(Date.now() / 1_000) + seconds;
  const token = await signTestToken({ sub: 'reader', exp });
  try {
    return { socket: await openGreetedSocket(app.wsUrl, token), exp };
  } catch (error) {
    if (Date.now() < exp * 1_000) throw error;
    return openWithShortToken(2 * seconds);
  }
}

const UNSHOWABLE = {
  valueOf(): never {
    throw new Error('The password is hunter2');
  },
} as unknown as string;

/** A log whose messages cannot be shown. */
class FaultyLog extends MemoryLiveLog {
  override async watch(options: WatchOptions): Promise<LiveMessages> {
    const messages = await super.watch(options);
    const next = messages.next.bind(messages);
    return Object.assign(messages, {
      async next() {
        const result = await next();
        return result.done === true ? result : { ...result, value: { ...result.value, cursor: UNSHOWABLE } };
      },
    });
  }
}

describe('internal errors', () => {
  test('in an event tell the client only an id', async () => {
    await using liveLog = new FaultyLog();
    await using server = await startTestHttp(app, { core: { ...app.core, liveLog } });
    await using socket = await openGreetedSocket(socketUrl(server), await app.token('reader'));
    socket.send({ type: 'subscribe', id: '1', payload: WATCH });
    const extensions = { code: 'INTERNAL_SERVER_ERROR', errorId: expect.any(String) as unknown };
    const { payload } = (await socket.next()) as { payload: { errors: object[] } };
    expect(payload.errors).toMatchObject([{ message: 'Internal server error', extensions }]);
    expect(JSON.stringify(payload)).not.toContain('hunter2');
  });
});

describe('close codes', () => {
  test.each([
    ['text that is no JSON', 'hello'],
    ['JSON that is no message', '[]'],
    ['a message without a type', {}],
    ['a message of an unknown type', { type: 'start' }],
    ['a subscribe without an id', { type: 'subscribe', payload: WATCH }],
    ['a subscribe without a query', { type: 'subscribe', id: '1', payload: {} }],
    ['connection parameters that are no object', { type: 'connection_init', payload: 'token' }],
  ])('4400 for %s', async (_what, message) => {
    await using socket = await openSocket(app.wsUrl);
    socket.send(message);
    expect(await socket.closed).toEqual({ code: 4400, reason: 'Invalid message received' });
  });

  test('4401 for a subscribe before the connection was acknowledged', async () => {
    await using socket = await openSocket(app.wsUrl);
    socket.send({ type: 'subscribe', id: '1', payload: WATCH });
    expect(await socket.closed).toEqual({ code: 4401, reason: 'Unauthorized' });
  });

  const needsToken = 'This requires a token: connectionParams {authorization: "Bearer <token>"}';
  const malformed = 'The authorization is not of the form "Bearer <token>"';
  const notText = (name: string): string => `The connection parameter "${name}" is not a string`;
  test.each([
    ['no connection parameters', undefined, needsToken],
    ['no token', {}, needsToken],
    ['a token that is null', { token: null, authorization: null }, needsToken],
    ['an authorization that is no text', { Authorization: 1 }, notText('Authorization')],
    ['a token that is no text', { token: ['x'] }, notText('token')],
    ['a token that is not valid', { authorization: 'Bearer nonsense' }, 'The token is invalid'],
    ['a bare token that is not valid', { token: 'nonsense' }, 'The token is invalid'],
    ['a token without its scheme', { authorization: 'nonsense' }, malformed],
    ['a token that is none', { token: 'a b' }, malformed],
  ])('4403 for %s, with the reason', async (_what, payload, reason) => {
    await using socket = await openSocket(app.wsUrl);
    socket.send({ type: 'connection_init', payload });
    expect(await socket.closed).toEqual({ code: 4403, reason });
  });

  test('4403 for an expired token, with the message of HTTP', async () => {
    const token = await signTestToken({ sub: 'reader', exp: Math.floor(Date.now() / 1_000) - 60 });
    await using socket = await openSocket(app.wsUrl);
    socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
    const response = await fetch(`${app.url}/graphql?query={__typename}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { errors } = (await response.json()) as { errors: { message: string }[] };
    expect(await socket.closed).toEqual({ code: 4403, reason: errors[0]?.message });
  });

  test('4408 after too long without an operation, counted from the end of the last', async () => {
    // A socket that answers no ping within their interval is dropped: that is not what this is about.
    await using server = await startTestHttp(app, { limits: { socketIdleMs: 2_000, pingMs: 4_000 } });
    const token = await app.token('reader');
    await using busy = await openGreetedSocket(socketUrl(server), token);
    busy.send({ type: 'subscribe', id: '1', payload: WATCH });
    await busy.next();
    await using idle = await openGreetedSocket(socketUrl(server), token);
    expect(await idle.closed).toEqual({ code: 4408, reason: 'No operation for 2 s' });
    expect(busy.socket.readyState).toBe(WebSocket.OPEN);
    busy.send({ type: 'complete', id: '1' });
    expect(await busy.closed).toMatchObject({ code: 4408 });
  });

  test('4403 when the token expires', async () => {
    const { socket: greeted, exp } = await openWithShortToken(2);
    await using socket = greeted;
    expect(await socket.closed).toEqual({ code: 4403, reason: 'The token has expired' });
    expect(Date.now()).toBeGreaterThanOrEqual(exp * 1_000);
  });

  test.each([['graphql-ws'], ['soap']])('4406 for the subprotocol %s', async (protocol) => {
    await using socket = await openSocket(app.wsUrl, [protocol, 'also-not-it']).catch(async () => {
      // A client of ws refuses a server that picks none of what it offered; it never hears the code.
      return openSocket(app.wsUrl, []);
    });
    expect(await socket.closed).toEqual({ code: 4406, reason: 'Subprotocol not acceptable' });
  });

  test('4408 if connection_init does not arrive in time', async () => {
    await using server = await startTestHttp(app, { limits: { connectionInitMs: 20 } });
    await using socket = await openSocket(socketUrl(server));
    expect(await socket.closed).toEqual({ code: 4408, reason: 'Connection initialisation timeout' });
  });

  test('4409 for an id in use', async () => {
    await using socket = await openGreetedSocket(app.wsUrl, await app.token('reader'));
    socket.send({ type: 'subscribe', id: 'same', payload: WATCH });
    expect(await socket.next()).toMatchObject({ type: 'next', id: 'same' });
    socket.send({ type: 'subscribe', id: 'same', payload: WATCH });
    expect(await socket.closed).toEqual({ code: 4409, reason: 'Subscriber for same already exists' });
  });

  test('4429 for a second connection_init', async () => {
    const token = await app.token('reader');
    await using socket = await openGreetedSocket(app.wsUrl, token);
    socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
    expect(await socket.closed).toEqual({ code: 4429, reason: 'Too many initialisation requests' });
  });

  test('1009 for a message above the limit', async () => {
    await using socket = await openSocket(app.wsUrl);
    socket.send({ type: 'ping', payload: { filler: 'x'.repeat(5_000) } });
    expect(await socket.closed).toMatchObject({ code: 1009 });
  });

  test("1009 for a message above the sender's limit, before all of it has arrived", async () => {
    await using server = await startTestHttp(app, { limits: { maxUserBodyBytes: 50_000 } });
    const large = { type: 'ping', payload: { filler: 'x'.repeat(60_000) } };
    await using service = await openGreetedSocket(
      socketUrl(server),
      await app.token('importer', ['service']),
    );
    service.send(large);
    expect(await service.next()).toMatchObject({ type: 'pong' });
    await using user = await openGreetedSocket(socketUrl(server), await app.token('reader'));
    user.send(large);
    expect(await user.closed).toEqual({ code: 1009, reason: 'The message is too large' });
    await using endless = await openGreetedSocket(socketUrl(server), await app.token('reader'));
    for (let n = 0; n < 10; n += 1) endless.socket.send(' '.repeat(20_000), { fin: false });
    expect(await endless.closed).toEqual({ code: 1009, reason: 'The message is too large' });
  });

  test('1009 for a large message without a token', async () => {
    await using server = await startTestHttp(app);
    await using socket = await openSocket(socketUrl(server));
    socket.send({ type: 'connection_init', payload: { filler: 'x'.repeat(70_000) } });
    expect(await socket.closed).toEqual({ code: 1009, reason: 'The message is too large' });
  });

  test.each([
    ['deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'The JSON is nested more than 32 levels deep'],
    [
      'of many properties',
      `{${'"k":1,'.repeat(20_000)}"l":1}`,
      'A list or object in the JSON has more than 10000 entries',
    ],
  ])('4400 for a message that is %s', async (_what, json, reason) => {
    await using server = await startTestHttp(app);
    await using socket = await openGreetedSocket(socketUrl(server), await app.token('reader'));
    socket.send(
      `{"type":"subscribe","id":"1","payload":{"query":"{ __typename }","variables":{"x":${json}}}}`,
    );
    expect(await socket.closed).toEqual({ code: 4400, reason });
  });

  test('1013 for a large message if too much is in flight', async () => {
    await using server = await startTestHttp(app, {
      limits: { maxBodyBytes: 200_000, maxBodyBytesUnderWay: 200_000 },
    });
    const token = await app.token('importer', ['service']);
    await using first = await openGreetedSocket(socketUrl(server), token);
    first.socket.send(' '.repeat(180_000), { fin: false });
    await vi.waitUntil(() => server.stats().bodyBytes > 100_000, { timeout: 60_000 });
    await using second = await openGreetedSocket(socketUrl(server), token);
    second.send({ type: 'ping', payload: { filler: 'x'.repeat(1_000) } });
    expect(await second.next()).toMatchObject({ type: 'pong' });
    second.send({ type: 'ping', payload: { filler: 'x'.repeat(100_000) } });
    expect(await second.closed).toMatchObject({ code: 1013 });
    first.socket.terminate();
    await vi.waitUntil(() => server.stats().bodyBytes === 0, { timeout: 60_000 });
    await using third = await openGreetedSocket(socketUrl(server), token);
    const query = '{ viewer { memberId } }';
    const padded = { query, extensions: { filler: 'x'.repeat(100_000) } };
    third.send({ type: 'subscribe', id: '1', payload: padded });
    expect(await third.next()).toMatchObject({ payload: { data: { viewer: { memberId: 'importer' } } } });
    third.send({ type: 'subscribe', id: '2', payload: { ...WATCH, extensions: padded.extensions } });
    expect(await third.next()).toMatchObject({ type: 'complete' });
    expect(await third.next()).toMatchObject({ type: 'next', id: '2' });
    expect(server.stats()).toMatchObject({ subscriptions: 1, bodyBytes: 0 });
  });

  test('an unfinished message counts as in flight from 16 KiB on, also before connection_init and behind another', async () => {
    await using server = await startTestHttp(app);
    const beginning = ' '.repeat(40_000);
    {
      await using stranger = await openSocket(socketUrl(server));
      stranger.socket.send(beginning, { fin: false });
      await vi.waitUntil(() => server.stats().bodyBytes > 20_000, { timeout: 60_000 });
    }
    await vi.waitUntil(() => server.stats().bodyBytes === 0, { timeout: 60_000 });
    await using greeted = await openGreetedSocket(socketUrl(server), await app.token('reader'));
    const stream = Reflect.get(greeted.socket, '_socket') as Socket;
    stream.cork();
    greeted.send({ type: 'ping' });
    greeted.socket.send(beginning, { fin: false });
    stream.uncork();
    expect(await greeted.next()).toMatchObject({ type: 'pong' });
    await vi.waitUntil(() => server.stats().bodyBytes > 20_000, { timeout: 60_000 });
    greeted.socket.ping();
    await once(greeted.socket, 'pong');
    expect(server.stats().bodyBytes).toBeGreaterThan(20_000);
    greeted.socket.send('');
    expect(await greeted.closed).toMatchObject({ code: 4400 });
    await vi.waitUntil(() => server.stats().bodyBytes === 0, { timeout: 60_000 });
  });

  test('any number of small messages leaves nothing counted', async () => {
    await using server = await startTestHttp(app, {
      limits: { maxBodyBytesUnderWay: 100_000, maxBodyBytes: 50_000 },
    });
    await using socket = await openGreetedSocket(socketUrl(server), await app.token('reader'));
    const stream = Reflect.get(socket.socket, '_socket') as Socket;
    const text = JSON.stringify({ type: 'ping', payload: { filler: 'x'.repeat(1_000) } });
    for (let round = 0; round < 40; round += 1) {
      stream.cork();
      socket.socket.ping();
      for (let n = 0; n < 40; n += 1) {
        socket.socket.send(text.slice(0, 300), { fin: false });
        socket.socket.send(text.slice(300));
      }
      stream.uncork();
      for (let n = 0; n < 40; n += 1) expect(await socket.next()).toMatchObject({ type: 'pong' });
    }
    expect(server.stats().bodyBytes).toBe(0);
  });

  test('1001 when the server stops', async () => {
    const server = await startTestHttp(app);
    await using socket = await openGreetedSocket(socketUrl(server), await app.token('reader'));
    await server.close();
    expect(await socket.closed).toEqual({ code: 1001, reason: 'Going away' });
  });
});

describe('connection parameters', () => {
  test.each([
    ['authorization', (token: string) => ({ authorization: `Bearer ${token}` })],
    ['Authorization', (token: string) => ({ Authorization: `bearer ${token}` })],
    ['AUTHORIZATION', (token: string) => ({ AUTHORIZATION: `Bearer ${token}` })],
    ['token', (token: string) => ({ token })],
    ['token with its scheme', (token: string) => ({ token: `Bearer ${token}` })],
  ])('accept the token as %s', async (_what, params) => {
    await using socket = await openSocket(app.wsUrl);
    socket.send({ type: 'connection_init', payload: params(await app.token('reader')) });
    expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
    socket.send({ type: 'subscribe', id: '1', payload: { query: '{ viewer { memberId } }' } });
    expect(await socket.next()).toMatchObject({ payload: { data: { viewer: { memberId: 'reader' } } } });
  });
});

describe('messages', () => {
  test('answers a ping with a pong and its payload, before and after connection_ack', async () => {
    await using socket = await openSocket(app.wsUrl);
    socket.send({ type: 'ping' });
    expect(await socket.next()).toEqual({ type: 'pong' });
    socket.send({
      type: 'connection_init',
      payload: { authorization: `Bearer ${await app.token('reader')}` },
    });
    expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
    socket.send({ type: 'ping', payload: { n: 1 } });
    expect(await socket.next()).toEqual({ type: 'pong', payload: { n: 1 } });
  });

  test('accepts an unsolicited pong', async () => {
    await using socket = await openGreetedSocket(app.wsUrl, await app.token('reader'));
    socket.send({ type: 'pong', payload: {} });
    socket.send({ type: 'ping' });
    expect(await socket.next()).toEqual({ type: 'pong' });
  });

  test('runs queries and mutations, once each', async () => {
    await using socket = await openGreetedSocket(app.wsUrl, await app.token('reader'));
    socket.send({ type: 'subscribe', id: 'q', payload: { query: '{ viewer { memberId } }' } });
    expect(await socket.next()).toEqual({
      type: 'next',
      id: 'q',
      payload: { data: { viewer: { memberId: 'reader' } } },
    });
    expect(await socket.next()).toEqual({ type: 'complete', id: 'q' });
    const query = 'mutation Follow($id: String!) { follow(refId: $id) { refId isFollowed } }';
    socket.send({
      type: 'subscribe',
      id: 'm',
      payload: { query, operationName: 'Follow', variables: { id: 'x' } },
    });
    expect(await socket.next()).toMatchObject({
      payload: { data: { follow: { refId: 'x', isFollowed: true } } },
    });
    expect(await socket.next()).toEqual({ type: 'complete', id: 'm' });
  });

  test.each([
    ['a syntax error', { query: '{' }],
    ['an unknown field', { query: '{ nothing }' }],
    [
      'a variable of the wrong type',
      { query: 'query ($n: Int) { feed(first: $n) { state } }', variables: { n: 'x' } },
    ],
    ['an unknown operation', { query: 'query A { viewer { memberId } }', operationName: 'B' }],
    [
      'two operations and no name',
      { query: 'query A { viewer { memberId } } query B { viewer { memberId } }' },
    ],
    ['no operation', { query: 'fragment F on Query { viewer { memberId } }' }],
    ['a limit', { query: `{ ${'a: viewer { memberId } '.repeat(101)} }` }],
  ])('reports %s as an error of the operation and keeps the socket', async (_what, payload) => {
    await using socket = await openGreetedSocket(app.wsUrl, await app.token('reader'));
    socket.send({ type: 'subscribe', id: '1', payload });
    const { type, payload: answer } = await socket.next();
    const errors = type === 'error' ? answer : (answer as { errors: unknown }).errors;
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(JSON.stringify(errors)).not.toContain('"http"');
    if (type === 'next') expect(await socket.next()).toEqual({ type: 'complete', id: '1' });
    socket.send({ type: 'subscribe', id: '1', payload: { query: '{ viewer { memberId } }' } });
    expect(await socket.next()).toMatchObject({ type: 'next', id: '1' });
  });

  test('opens a subscription with FeedReady and ends it when the client completes it', async () => {
    await using socket = await openGreetedSocket(app.wsUrl, await app.token('watcher'));
    socket.send({ type: 'subscribe', id: '1', payload: WATCH });
    expect(await socket.next()).toMatchObject({
      payload: { data: { feedEvents: { __typename: 'FeedReady' } } },
    });
    expect(app.app.http?.stats().subscriptions).toBe(1);
    socket.send({ type: 'complete', id: '1' });
    await vi.waitUntil(() => app.app.http?.stats().subscriptions === 0, { timeout: PATIENCE_MS });
    socket.send({ type: 'subscribe', id: '1', payload: WATCH });
    expect(await socket.next()).toMatchObject({ type: 'next', id: '1' });
  });

  test('rejects operations above the limit of a socket, and continues', async () => {
    await using socket = await openGreetedSocket(app.wsUrl, await app.token('watcher'));
    for (const id of ['1', '2', '3']) {
      socket.send({ type: 'subscribe', id, payload: WATCH });
      expect(await socket.next()).toMatchObject({ type: 'next', id });
    }
    socket.send({ type: 'subscribe', id: '4', payload: WATCH });
    expect(await socket.next()).toMatchObject({
      type: 'error',
      id: '4',
      payload: [{ extensions: { code: 'RATE_LIMITED' } }],
    });
    socket.send({ type: 'complete', id: '1' });
    socket.send({ type: 'subscribe', id: '5', payload: WATCH });
    expect(await socket.next()).toMatchObject({ type: 'next', id: '5' });
  });

  test('leaves nothing behind after sockets come and go', async () => {
    const token = await app.token('watcher');
    for (let round = 0; round < 20; round += 1) {
      await using socket = await openGreetedSocket(app.wsUrl, token);
      socket.send({ type: 'subscribe', id: '1', payload: WATCH });
      await socket.next();
    }
    await vi.waitUntil(
      () => {
        const { sockets, subscriptions } = app.app.http?.stats() ?? {};
        return sockets === 0 && subscriptions === 0;
      },
      { timeout: PATIENCE_MS },
    );
  });
});

describe('the connection itself', () => {
  test('rejects an upgrade on another path', async () => {
    const socket = new WebSocket(`${app.wsUrl}/elsewhere`, 'graphql-transport-ws');
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toBe('Unexpected server response: 404');
  });

  test('survives clients that disconnect in the middle of anything', async () => {
    const { port } = new URL(app.url);
    for (const bytes of ['GET /graphql HTTP/1.1\r\nUpgrade: websocket\r\n', '\u0000\u0001\u0002', '']) {
      const raw = connect(Number(port), '127.0.0.1');
      await once(raw, 'connect');
      raw.write(bytes);
      raw.resetAndDestroy();
    }
    const socket = await openGreetedSocket(app.wsUrl, await app.token('reader'));
    socket.send({ type: 'subscribe', id: '1', payload: WATCH });
    socket.socket.terminate();
    await socket.closed;
    expect((await fetch(`${app.url}/health`)).status).toBe(200);
  });

  test('closes a socket that answers no pings', async () => {
    await using server = await startTestHttp(app, { limits: { pingMs: 30 } });
    const socket = new WebSocket(socketUrl(server), 'graphql-transport-ws', { autoPong: false });
    await once(socket, 'open');
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1006);
    await vi.waitUntil(() => server.stats().sockets === 0, { timeout: PATIENCE_MS });
  });

  test('keeps a socket that answers pings', async () => {
    // Long enough for an answer on a busy machine.
    await using server = await startTestHttp(app, { limits: { pingMs: 2_000 } });
    await using socket = await openGreetedSocket(socketUrl(server), await app.token('reader'));
    const isClosed = socket.closed.then(() => Promise.reject(new Error('The socket was closed')));
    for (let pings = 0; pings < 3; pings += 1) await Promise.race([once(socket.socket, 'ping'), isClosed]);
    isClosed.catch(() => undefined);
    expect(socket.socket.readyState).toBe(WebSocket.OPEN);
  });
});

test('nothing more is read for a query that its client has completed', async () => {
  const { actions } = app.core;
  const slice = actions.sliceWithReader.bind(actions);
  let goOn = (): void => undefined;
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
  const read = vi.spyOn(actions, 'sliceWithReader').mockImplementation(async (...given) => {
    await mayGoOn;
    return slice(...given);
  });
  try {
    await using socket = await openGreetedSocket(app.wsUrl, await app.token('reader'));
    const pages = Array.from(
      { length: 20 },
      (_, n) => `p${String(n)}: slice(refId: "thing-${String(n)}") { edges { cursor } }`,
    );
    socket.send({ type: 'subscribe', id: '1', payload: { query: `{ ${pages.join(' ')} }` } });
    await expect.poll(() => read.mock.calls.length, { timeout: PATIENCE_MS }).toBeGreaterThan(0);
    const begun = read.mock.calls.length;
    socket.send({ type: 'complete', id: '1' });
    // Messages are taken in order.
    socket.send({ type: 'ping' });
    expect((await socket.next()).type).toBe('pong');
    goOn();
    socket.send({ type: 'subscribe', id: '2', payload: { query: '{ viewer { memberId lastRead } }' } });
    expect(await socket.next()).toMatchObject({ id: '2', type: 'next' });
    expect([begun < 20, read.mock.calls.length]).toEqual([true, begun]);
  } finally {
    goOn();
    read.mockRestore();
  }
});
