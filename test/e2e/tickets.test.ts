import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTcpProxy } from '../integration/realtime/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { makeKey, startKeyServer } from '../support/key-server.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { openSocket } from '../support/socket.ts';
import { signTestToken } from '../support/tokens.ts';
import { startValkeyCluster } from '../support/valkey-cluster.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  await upsert(app, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
});
afterAll(async () => app[Symbol.asyncDispose]());

const WAIT = { timeout: PATIENCE_MS, interval: 20 };
const WATCH = 'subscription { feedEvents { __typename ... on FeedItemAdded { item { action { id } } } } }';
const CREATE = 'mutation { createTicket { ticket expiresAt } }';

interface TicketAnswer {
  readonly createTicket: { readonly ticket: string; readonly expiresAt: string };
}

async function ticketFor(sub: string, of: Pick<TestApp, 'query'> = app): Promise<string> {
  return (await ask<TicketAnswer>(of, CREATE, {}, { sub })).createTicket.ticket;
}

function streamUrl(ticket: string, base = app.url, query = WATCH): string {
  return `${base}/graphql?${new URLSearchParams({ ticket, query }).toString()}`;
}

interface Watched {
  readonly source: EventSource;
  /** Ids of the actions that were added, as they came. */
  readonly added: string[];
  /** Types of all events, as they came. */
  readonly types: string[];
}

/** A client as browsers have it: it can send no headers, and connects again when the stream breaks. */
function watch(url: string): Watched {
  const source = new EventSource(url);
  const [added, types]: [string[], string[]] = [[], []];
  source.addEventListener('next', ({ data }: { data: string }) => {
    const { feedEvents } = (
      JSON.parse(data) as { data: { feedEvents: { __typename: string; item?: { action: { id: string } } } } }
    ).data;
    types.push(feedEvents.__typename);
    if (feedEvents.item !== undefined) added.push(feedEvents.item.action.id);
  });
  return { source, added, types };
}

async function get(url: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
  const text = response.status === 200 ? '' : await response.text();
  await response.body?.cancel().catch(() => undefined);
  return { status: response.status, text };
}

describe('a ticket', () => {
  test('opens event streams, any number of times, for clients without headers', async () => {
    const ticket = await ticketFor('ann');
    for (let n = 0; n < 2; n += 1) {
      const { source, types, added } = watch(streamUrl(ticket));
      await expect.poll(() => types, WAIT).toContain('FeedReady');
      const id = await publish(app);
      await expect.poll(() => added, WAIT).toContain(id);
      source.close();
    }
  });

  test('lets a browser resume after a broken stream, without losses or repeats', async () => {
    await using proxy = await startTcpProxy(app.url);
    const { source, added, types } = watch(
      streamUrl(await ticketFor('ann'), `http://127.0.0.1:${String(proxy.port)}`),
    );
    const published: string[] = [];
    await expect.poll(() => types, WAIT).toContain('FeedReady');
    for (let round = 0; round < 2; round += 1) {
      published.push(await publish(app), await publish(app));
      await app.idle();
      await expect.poll(() => added.length, WAIT).toBe(published.length);
      proxy.cut();
      published.push(await publish(app), await publish(app));
      await app.idle();
      proxy.heal();
      await expect.poll(() => added.length, WAIT).toBe(published.length);
    }
    published.push(await publish(app));
    await expect.poll(() => added.length, WAIT).toBe(published.length);
    source.close();
    expect([...added].sort()).toEqual([...published].sort());
    expect(types).not.toContain('FeedResync');
  });

  test('opens nothing but event streams', async () => {
    const ticket = await ticketFor('ann');
    const query = '{ viewer { memberId } }';
    const forbidden = await get(streamUrl(ticket, app.url, query), { accept: 'application/json' });
    expect(forbidden).toMatchObject({ status: 403, text: expect.stringContaining('FORBIDDEN') as unknown });
    expect((await get(streamUrl(ticket, app.url, '{ __typename }'), { accept: '*/*' })).status).toBe(403);
    expect((await get(streamUrl(ticket, app.url, CREATE))).status).toBe(405);
    const post = await fetch(`${app.url}/graphql?ticket=${ticket}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    expect(post.status).toBe(401);
    const bearer = { authorization: `Bearer ${ticket}` };
    expect((await get(`${app.url}/graphql?query=${encodeURIComponent(query)}`, bearer)).status).toBe(401);
    await using socket = await openSocket(app.wsUrl);
    socket.send({ type: 'connection_init', payload: { token: ticket } });
    expect(await socket.closed).toMatchObject({ code: 4403 });
  });

  test('is rejected if it was changed, or is a token', async () => {
    const [head, , signature] = (await ticketFor('ann')).split('.');
    const [, body] = (await ticketFor('bob')).split('.');
    for (const ticket of [
      `${head ?? ''}.${body ?? ''}.${signature ?? ''}`,
      await app.token('ann'),
      'nonsense',
      '',
    ])
      expect(await get(streamUrl(ticket))).toMatchObject({
        status: 401,
        text: expect.stringContaining('The ticket is invalid') as unknown,
      });
  });

  test('never outlives its token, neither itself nor its streams', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 4;
    const token = await signTestToken({ sub: 'ann', exp });
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: CREATE }),
    });
    const { data } = (await response.json()) as { data: TicketAnswer };
    expect(new Date(data.createTicket.expiresAt)).toEqual(new Date(exp * 1_000));
    const url = streamUrl(data.createTicket.ticket);
    const stream = await fetch(url, { headers: { accept: 'text/event-stream' } });
    // Ends with the token.
    expect(await stream.text()).toContain('The token has expired');
    expect(Date.now()).toBeGreaterThanOrEqual(exp * 1_000);
    expect(await get(url)).toMatchObject({
      status: 401,
      text: expect.stringContaining('The ticket has expired') as unknown,
    });
  });

  test('is never logged', async () => {
    const ticket = await ticketFor('ann');
    await get(streamUrl(ticket, app.url, '{'));
    await get(streamUrl(`${ticket}x`));
    await get(streamUrl(ticket));
    const log = app.log.join('');
    expect(log).toContain('Token refused');
    expect(log).not.toContain(ticket);
    expect(log).not.toContain(ticket.split('.')[2]);
  });

  test('is not created without a token', async () => {
    expect(await app.query(CREATE, {}, null)).toMatchObject({ status: 401 });
  });
});

describe('a ticket from another process', () => {
  test('is valid with the same secret', async () => {
    await using other = await startTestApp({ worker: false, database: app.database });
    expect((await get(streamUrl(await ticketFor('ann'), other.url))).status).toBe(200);
  });

  test('opens an event stream if processes share a Redis Cluster, and receives actions through it', async () => {
    await using cluster = await startValkeyCluster();
    const env = { REDIS_URL: cluster.url, RATE_LIMIT: '100/1h' };
    await using one = await startTestApp({ env });
    await using two = await startTestApp({ worker: false, database: one.database, env });
    await upsert(one, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
    const { source, types, added } = watch(streamUrl(await ticketFor('ann', one), two.url));
    await expect.poll(() => types, WAIT).toContain('FeedReady');
    const id = await publish(one);
    await expect.poll(() => added, WAIT).toEqual([id]);
    source.close();
  });

  test('is valid with keys from a JWKS, though no process can sign with them', async () => {
    const key = await makeKey('k1');
    await using keys = await startKeyServer([key.jwk]);
    const env = { JWT_SECRET: '', JWKS_URI: keys.uri };
    await using one = await startTestApp({ worker: false, env });
    await using two = await startTestApp({ worker: false, env, database: one.database });
    const response = await fetch(`${one.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await key.sign('ann')}` },
      body: JSON.stringify({ query: CREATE }),
    });
    const { data } = (await response.json()) as { data: TicketAnswer };
    for (const { url } of [one, two])
      expect((await get(streamUrl(data.createTicket.ticket, url))).status).toBe(200);
    await using stranger = await startTestApp({ worker: false, env });
    expect((await get(streamUrl(data.createTicket.ticket, stranger.url))).status).toBe(401);
  });
});

describe('event streams', () => {
  /** The first events of a stream as they are written. */
  async function read(
    headers: Readonly<Record<string, string>>,
    query: string,
    events: number,
  ): Promise<string> {
    const response = await fetch(`${app.url}/graphql?query=${encodeURIComponent(query)}`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${await app.token('ann')}`, ...headers },
    });
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (text.split('event: next').length > events && text.endsWith('\n\n')) break;
    }
    return text;
  }

  test('contain the id of each event, whether or not it is selected', async () => {
    const withCursor = await read({}, 'subscription { feedEvents { cursor } }', 1);
    const [, cursor = ''] = /"cursor":"([^"]+)"/.exec(withCursor) ?? [];
    expect(withCursor).toContain(
      `event: next\ndata: {"data":{"feedEvents":{"cursor":"${cursor}"}}}\nid: ${cursor}\n\n`,
    );
    expect(await read({}, 'subscription { feedEvents { __typename } }', 1)).toMatch(/\}\nid: \S+\n\n$/);
  });

  test('never return what they were given as a cursor', async () => {
    const forged = 'event: next\ndata: {"data":{"feedEvents":{"__typename":"Forged"}}}';
    const query = `subscription { feedEvents(after: ${JSON.stringify(`zz\n\n${forged}\n\n`)}) { __typename cursor } }`;
    const text = await read({}, query, 2);
    expect(text).toContain('FeedResync');
    expect(text).not.toContain('Forged');
  });

  test('resume after Last-Event-ID, which takes precedence over the argument', async () => {
    const first = await read({}, 'subscription { feedEvents { cursor } }', 1);
    const [, cursor = ''] = /\nid: (\S+)\n/.exec(first) ?? [];
    const missed = await publish(app);
    await app.idle();
    const query = `subscription { feedEvents(after: "nonsense") { ... on FeedItemAdded { item { action { id } } } } }`;
    expect(await read({ 'last-event-id': cursor }, query, 2)).toContain(missed);
  });
});
