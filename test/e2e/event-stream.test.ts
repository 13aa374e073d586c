import { createClient, type Client } from 'graphql-sse';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startTestHttp } from '../support/http.ts';
import { PATIENCE_MS } from '../support/patience.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { SUBSCRIPTIONS_PER_USER: '2' } });
});
afterAll(async () => app[Symbol.asyncDispose]());

const WATCH =
  'subscription { feedEvents { __typename cursor ... on FeedItemAdded { item { action { descriptor { summary } } } } } }';
const publisher = { sub: 'bob', roles: ['service'] as const };
const PUBLISH =
  'mutation ($text: String!) { publishAction(input: { mentions: ["reader", "sse-client"], scope: RESTRICTED, recipients: ["reader"], descriptor: { custom: { verb: "wrote", objectType: "note", objectId: $text } } }) { action { id } } }';

function clientOf(token: string, url = app.url): Client {
  return createClient({
    url: `${url}/graphql`,
    headers: { authorization: `Bearer ${token}` },
    retryAttempts: 0,
  });
}

const noSubscriptions = (): Promise<void> =>
  vi
    .waitUntil(() => app.app.http?.stats().subscriptions === 0, { timeout: PATIENCE_MS })
    .then(() => undefined);

interface Event {
  readonly feedEvents: { readonly __typename: string; readonly cursor: string };
}

describe('the client of graphql-sse in distinct mode', () => {
  test('gets FeedReady and later events, and leaves nothing behind', async () => {
    const client = clientOf(await app.token('reader'));
    const events = client.iterate<Event>({ query: WATCH });
    expect((await events.next()).value).toMatchObject({ data: { feedEvents: { __typename: 'FeedReady' } } });
    await app.query(PUBLISH, { text: 'n1' }, publisher);
    expect((await events.next()).value).toMatchObject({
      data: {
        feedEvents: {
          __typename: 'FeedItemAdded',
          item: { action: { descriptor: { summary: 'bob wrote note n1' } } },
        },
      },
    });
    await events.return?.();
    client.dispose();
    await noSubscriptions();
  });

  test('gets the answer to a query', async () => {
    const client = clientOf(await app.token('reader'));
    const results = [];
    for await (const result of client.iterate({ query: '{ viewer { memberId } }' })) results.push(result);
    expect(results).toEqual([{ data: { viewer: { memberId: 'reader' } } }]);
    client.dispose();
  });

  test.each([
    ['a syntax error', { query: 'subscription {' }],
    ['an unknown field', { query: 'subscription { nothing }' }],
    [
      'an argument the service refuses',
      { query: 'subscription { feedEvents(filter: { types: [""] }) { cursor } }' },
    ],
  ])('is notified of %s', async (_what, request) => {
    const client = clientOf(await app.token('reader'));
    const results = [];
    for await (const result of client.iterate(request)) results.push(result);
    expect(results).toMatchObject([{ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] }]);
    client.dispose();
    await noSubscriptions();
  });

  test('is rejected without a token', async () => {
    const client = createClient({ url: `${app.url}/graphql`, retryAttempts: 0 });
    await expect(client.iterate({ query: WATCH }).next()).rejects.toMatchObject({
      response: { status: 401 },
    });
  });

  test("is rejected above a user's limit of subscriptions, without effect on other users", async () => {
    const client = clientOf(await app.token('reader'));
    const open = [client.iterate<Event>({ query: WATCH }), client.iterate<Event>({ query: WATCH })];
    for (const events of open) await events.next();
    const third = client.iterate<Event>({ query: WATCH }).next();
    await expect(third).rejects.toMatchObject({ response: { status: 429 } });
    const other = clientOf(await app.token('other'));
    const events = other.iterate<Event>({ query: WATCH });
    expect((await events.next()).value).toMatchObject({ data: {} });
    other.dispose();
    client.dispose();
    await noSubscriptions();
  });

  test('sees a closing server as a broken connection, so that it reconnects', async () => {
    const server = await startTestHttp(app);
    const client = clientOf(await app.token('reader'), server.url);
    const events = client.iterate<Event>({ query: WATCH });
    await events.next();
    const broken = expect(events.next()).rejects.toThrow();
    await server.close();
    await broken;
    client.dispose();
  });
});

/** A request for a stream by hand, so that reading can stop. */
async function rawStream(token: string): Promise<Socket> {
  const { port } = new URL(app.url);
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  const body = JSON.stringify({ query: WATCH });
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`,
  );
  return socket;
}

describe('on the wire', () => {
  test('streams by GET too, as EventSource does', async () => {
    const response = await fetch(`${app.url}/graphql?query=${encodeURIComponent(WATCH)}`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${await app.token('reader')}` },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (/event: next\ndata: \{.*FeedReady.*\}\nid: \S+\n\n/.test(text)) break;
    }
    expect(text).toContain('FeedReady');
    await noSubscriptions();
  });

  test('ends the subscription when the connection breaks', async () => {
    const socket = await rawStream(await app.token('reader'));
    await once(socket, 'data');
    await vi.waitUntil(() => app.app.http?.stats().subscriptions === 1, { timeout: PATIENCE_MS });
    socket.resetAndDestroy();
    await noSubscriptions();
    expect(app.app.http?.stats().requests).toBe(0);
  });

  test('ends the subscription of a client that stopped reading and was disconnected', async () => {
    const socket = await rawStream(await app.token('reader'));
    await once(socket, 'data');
    socket.pause();
    for (let n = 0; n < 20; n += 1)
      await app.query(PUBLISH, { text: 'x'.repeat(200) + String(n) }, publisher);
    await app.idle();
    socket.destroy();
    await noSubscriptions();
  });
});
