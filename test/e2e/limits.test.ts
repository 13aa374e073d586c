import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { RateLimits, type ShareState } from '../../src/http/limits/rate-limit.ts';
import type { HttpServer } from '../../src/http/server.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { socketUrl, startTestHttp } from '../support/http.ts';
import { openGreetedSocket, openSocket } from '../support/socket.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ worker: false });
});
afterAll(async () => app[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly code: string | undefined;
  readonly message: string | undefined;
}

async function post(
  body: string,
  { server = app, token }: { server?: Pick<HttpServer, 'url'>; token?: string | null } = {},
): Promise<Answer> {
  const bearer = token === undefined ? await app.token('reader') : token;
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
    },
    body,
  });
  const { errors } = (await response.json()) as {
    errors?: { message: string; extensions: { code: string } }[];
  };
  const { status, headers } = response;
  return { status, headers, code: errors?.[0]?.extensions.code, message: errors?.[0]?.message };
}

const ask = (query: string, variables: object = {}): Promise<Answer> =>
  post(JSON.stringify({ query, variables }));

/** Introspection of types within types, which is deep by nature. */
function typesOfTypes(levels: number): string {
  return `{ __schema { types { fields { type { ${'ofType { '.repeat(levels)} name ${'} '.repeat(levels)} } } } } }`;
}

describe('documents', () => {
  const item = 'edges { node { action { actor { name } refs { label } } } }';
  test.each([
    ['too long', `{ viewer { memberId } } #${' '.repeat(128 * 1024)}`, /131\d+ characters, at most 131072/],
    ['of too many tokens', `{ viewer { ${'memberId '.repeat(2_000)} } }`, /2000 tokens/],
    ['too deep', `{ ${'viewer { '.repeat(13)} x ${'} '.repeat(13)} }`, /14 fields deep, at most 12/],
    [
      'too deep through fragments',
      `{ ...F } fragment F on Query { ${'viewer { '.repeat(13)} x ${'} '.repeat(13)} }`,
      /14 fields/,
    ],
    [
      'of too many aliases',
      `{ ${Array.from({ length: 101 }, (_, n) => `a${String(n)}: __typename`).join(' ')} }`,
      /101 aliases, at most 100/,
    ],
    [
      'of too many directives',
      `{ ${'__typename @include(if: true) '.repeat(51)} }`,
      /51 directives, at most 50/,
    ],
    [
      'too costly',
      `{ ${Array.from({ length: 50 }, (_, n) => `a${String(n)}: feed(first: 100) { ${item} }`).join(' ')} }`,
      /requests up to \d+ objects, at most 50000/,
    ],
  ])('rejects one that is %s', async (_what, query, message) => {
    expect(await ask(query)).toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(message) as unknown,
    });
  });

  test('computes the cost from variables, their defaults and lists', async () => {
    const feeds = Array.from({ length: 20 }, (_, n) => `a${String(n)}: feed(first: $n) { ${item} }`).join(
      ' ',
    );
    expect((await ask(`query ($n: Int) { ${feeds} }`, { n: 100 })).message).toMatch(/requests up to/);
    expect((await ask(`query ($n: Int = 100) { ${feeds} }`)).message).toMatch(/requests up to/);
    expect((await ask(`query ($n: Int) { ${feeds} }`, { n: 10 })).code).toBeUndefined();
  });

  test('answers the largest page of each list', async () => {
    expect(
      await ask(`{ feed(first: 100) { unread { count } pageInfo { endCursor } ${item} } }`),
    ).toMatchObject({
      status: 200,
      code: undefined,
    });
  });

  test('answers the introspection of tools, but not an endless one', async () => {
    const { getIntrospectionQuery } = await import('graphql');
    expect((await ask(getIntrospectionQuery({ oneOf: true, descriptions: true }))).code).toBeUndefined();
    const circle = `{ __schema { types { ${'fields { type { '.repeat(4)} name ${'} } '.repeat(4)} } } }`;
    expect((await ask(circle)).code).toBe('BAD_USER_INPUT');
    expect((await ask(typesOfTypes(9))).code).toBeUndefined();
  });
});

describe('arguments', () => {
  test.each([0, -1, 101, 2_147_483_647])('rejects a page of %i', async (first) => {
    for (const field of [
      'feed(first: $n) { state }',
      'slice(refId: "r", first: $n) { edges { cursor } }',
      'viewer { following(first: $n) { edges { cursor } } }',
    ])
      expect(await ask(`query ($n: Int) { ${field} }`, { n: first })).toMatchObject({
        status: 200,
        code: 'BAD_USER_INPUT',
      });
  });

  test('rejects more than 100 nodes', async () => {
    const id = Buffer.from('Member:x').toString('base64');
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    expect((await ask(query, { ids: Array(101).fill(id) })).code).toBe('BAD_USER_INPUT');
    expect((await ask(query, { ids: Array(100).fill(id) })).code).toBeUndefined();
  });
});

describe('bodies', () => {
  test('rejects one above the limit', async () => {
    await using server = await startTestHttp(app, { limits: { maxBodyBytes: 1_000 } });
    const fits = JSON.stringify({ query: '{ viewer { memberId } }' });
    expect((await post(fits, { server })).code).toBeUndefined();
    expect(await post(fits + ' '.repeat(1_000), { server })).toMatchObject({
      status: 413,
      code: 'BAD_USER_INPUT',
    });
  });

  test('rejects one that exceeds the limit without having announced it', async () => {
    await using server = await startTestHttp(app, { limits: { maxBodyBytes: 1_000 } });
    const req = request(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await app.token('reader')}` },
    });
    req.on('error', () => undefined);
    const answered = once(req, 'response') as Promise<
      [{ statusCode: number; headers: Record<string, string> }]
    >;
    for (let n = 0; n < 20; n += 1) req.write(' '.repeat(100));
    const [response] = await answered;
    expect(response.statusCode).toBe(413);
    expect(response.headers['connection']).toBe('close');
    req.destroy();
  });

  test('reads less from clients without a token', async () => {
    const body = JSON.stringify({ query: '{ __typename }', extensions: { filler: 'x'.repeat(70_000) } });
    expect((await post(body)).status).toBe(200);
    expect(await post(body, { token: null })).toMatchObject({ status: 413, code: 'BAD_USER_INPUT' });
  });

  test('reads less from users than from services and admins', async () => {
    await using server = await startTestHttp(app);
    const body = JSON.stringify({ query: '{ __typename }', extensions: { filler: 'x'.repeat(260 * 1024) } });
    expect(await post(body, { server })).toMatchObject({
      status: 413,
      message: expect.stringMatching(/262144/),
    });
    for (const role of ['service', 'admin'] as const)
      expect(await post(body, { server, token: await app.token('x', [role]) })).toMatchObject({
        status: 200,
      });
  });

  test.each([
    ['deep', `${'['.repeat(900_000)}${']'.repeat(900_000)}`, /more than 32 levels/],
    ['of many properties', `{${'"k":1,'.repeat(60_000)}"l":1}`, /more than 10000 entries/],
    ['of long lists', `[${'0,'.repeat(1_000_000)}0]`, /more than 10000 entries/],
    ['of many lists', `[${`[${'0,'.repeat(9_000)}0],`.repeat(10)}0]`, /more than 50000 values/],
    ['of long texts', `"${'x'.repeat(2_000_000)}"`, /longer than 1048576 bytes/],
  ])('rejects one that is %s, anywhere in it', async (_what, json, message) => {
    const token = await app.token('importer', ['service']);
    for (const body of [
      `{"query":"{ __typename }","variables":{"x":${json}}}`,
      `{"query":"{ __typename }","extensions":{"x":${json}}}`,
      json,
    ])
      expect(await post(body, { token })).toMatchObject({
        status: 400,
        code: 'BAD_USER_INPUT',
        message: expect.stringMatching(message) as unknown,
      });
  });

  test('accepts a batch of 500 actions with 16 KiB of data each', async () => {
    const data = { text: 'x'.repeat(16_000) };
    const inputs = Array.from({ length: 500 }, (_, n) => ({
      descriptor: { custom: { verb: 'v', objectType: 'o', objectId: String(n), data } },
    }));
    await using server = await startTestHttp(app);
    const query =
      'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { error { code } } }';
    const token = await app.token('importer', ['service']);
    const answer = await post(JSON.stringify({ query, variables: { inputs } }), { server, token });
    expect(answer).toMatchObject({ status: 200, code: undefined });
  });

  test('gives up on a request that does not end', async () => {
    await using server = await startTestHttp(app, {
      limits: { headersTimeoutMs: 50, requestTimeoutMs: 100 },
    });
    const socket = connect(server.port, '127.0.0.1');
    socket.write('POST /graphql HTTP/1.1\r\nHost: x\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 408 /);
    await once(socket, 'close');
  });
});

describe('bodies in flight', () => {
  const LIMITS = {
    maxBodyBytes: 400_000,
    maxUserBodyBytes: 100_000,
    maxBodyBytesUnderWay: 800_000,
  };
  const SMALL = JSON.stringify({ query: '{ viewer { memberId } }' });

  const sized = (bytes: number): string =>
    `{"query":"{ __typename }","extensions":{"x":"${'x'.repeat(bytes - 48)}"}}`;

  /** A request that has sent all but the last byte of its body. */
  async function begin(server: HttpServer, bytes: number, token: string) {
    const body = sized(bytes);
    const req = request(`${server.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        authorization: `Bearer ${token}`,
      },
    });
    const answered = once(req, 'response') as Promise<[IncomingMessage]>;
    const before = server.stats().bodyBytes;
    req.write(body.slice(0, -1));
    await vi.waitFor(() => {
      expect(server.stats().bodyBytes).toBeGreaterThan(before);
    }, PATIENCE);
    return {
      async finish() {
        req.end(body.slice(-1));
        const [response] = await answered;
        response.resume();
        return response.statusCode;
      },
    };
  }

  test('are limited in total: large ones are UNAVAILABLE until there is room, small ones continue', async () => {
    await using server = await startTestHttp(app, { limits: LIMITS });
    const token = await app.token('importer', ['service']);
    const first = await begin(server, 390_000, token);
    const second = await begin(server, 390_000, token);
    expect((await post(SMALL, { server })).code).toBeUndefined();
    const third = await post(sized(100_000), { server, token });
    expect(third).toMatchObject({ status: 503, code: 'UNAVAILABLE' });
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await post(sized(90_000), { server })).toMatchObject({ status: 503, code: 'UNAVAILABLE' });
    expect(await first.finish()).toBe(200);
    expect((await post(sized(100_000), { server, token })).status).toBe(200);
    expect(await second.finish()).toBe(200);
  });

  test('are limited per user, with RATE_LIMITED', async () => {
    await using server = await startTestHttp(app, { limits: LIMITS });
    const token = await app.token('busy');
    const first = await begin(server, 100_000, token);
    const answer = await post(sized(90_000), { server, token });
    expect(answer).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post(SMALL, { server, token })).code).toBeUndefined();
    expect((await post(sized(90_000), { server, token: await app.token('other') })).status).toBe(200);
    expect(await first.finish()).toBe(200);
    expect((await post(sized(90_000), { server, token })).status).toBe(200);
  });

  test('do not count if their client leaves while its rate limit is checked', async () => {
    let found = (): void => undefined;
    const looking = new Promise<void>((resolve) => {
      found = resolve;
    });
    class SlowLimits extends RateLimits {
      override async countRequest(): Promise<ShareState[]> {
        await looking;
        return [];
      }
    }
    await using server = await startTestHttp(app, { limits: LIMITS, rateLimits: new SlowLimits({}) });
    const token = await app.token('leaver');
    const gone = connect(server.port, '127.0.0.1');
    gone.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100000\r\n\r\n{`,
    );
    await vi.waitFor(() => {
      expect(server.stats().requests).toBe(1);
    }, PATIENCE);
    gone.destroy();
    await vi.waitFor(() => {
      expect(server.stats().requests).toBe(0);
    }, PATIENCE);
    found();
    expect((await post(sized(90_000), { server, token })).status).toBe(200);
    expect(server.stats().bodyBytes).toBe(0);
  });

  test('no longer count after their client has left', async () => {
    await using server = await startTestHttp(app, { limits: LIMITS });
    const token = await app.token('importer', ['service']);
    const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${token}\r\n`;
    for (let n = 0; n < 3; n += 1) {
      const gone = connect(server.port, '127.0.0.1');
      gone.write(`${head}Content-Length: 400000\r\n\r\n{`);
      await vi.waitFor(() => {
        expect(server.stats().bodyBytes).toBeGreaterThan(300_000);
      }, PATIENCE);
      gone.destroy();
      await vi.waitFor(() => {
        expect(server.stats().bodyBytes).toBe(0);
      }, PATIENCE);
    }
  });
});

describe('the number of requests', () => {
  test('is limited per user if a limit is set', async () => {
    await using server = await startTestHttp(app, {
      rateLimits: new RateLimits({ requests: { points: 2, seconds: 60 } }),
    });
    const body = JSON.stringify({ query: '{ viewer { memberId } }' });
    const token = await app.token('busy');
    for (let n = 0; n < 2; n += 1) expect((await post(body, { server, token })).code).toBeUndefined();
    const third = await post(body, { server, token });
    expect(third).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post(body, { server, token: await app.token('other') })).code).toBeUndefined();
  });

  test('is limited per address without a token', async () => {
    await using server = await startTestHttp(app, {
      rateLimits: new RateLimits({ requests: { points: 1, seconds: 60 } }),
    });
    const body = JSON.stringify({ query: '{ __typename }' });
    expect((await post(body, { server, token: null })).status).toBe(200);
    expect((await post(body, { server, token: null })).code).toBe('RATE_LIMITED');
  });
});

describe('what counts as a request', () => {
  test.each([
    ['a document that is none', '{'],
    ['an unknown field', '{ nothing }'],
    ['an unknown operation', 'query A { viewer { memberId } } query B { viewer { memberId } }'],
    ['a body that is no JSON', null],
  ])('%s', async (_what, query) => {
    await using server = await startTestHttp(app, {
      rateLimits: new RateLimits({ requests: { points: 2, seconds: 60 } }),
    });
    const token = await app.token('careless');
    const body = query === null ? 'nonsense' : JSON.stringify({ query });
    for (let n = 0; n < 2; n += 1) expect((await post(body, { server, token })).code).toBe('BAD_USER_INPUT');
    expect(await post(body, { server, token })).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  });

  test('a rejected token, by address, without effect on valid tokens from there', async () => {
    await using server = await startTestHttp(app, {
      rateLimits: new RateLimits({ requests: { points: 2, seconds: 60 } }),
    });
    const body = JSON.stringify({ query: '{ viewer { memberId } }' });
    for (let n = 0; n < 2; n += 1)
      expect((await post(body, { server, token: 'nonsense' })).code).toBe('UNAUTHENTICATED');
    expect(await post(body, { server, token: 'nonsense' })).toMatchObject({ status: 429 });
    expect((await post(body, { server })).code).toBeUndefined();
  });

  test('a rejected token and an invalid document on a socket', async () => {
    await using server = await startTestHttp(app, {
      rateLimits: new RateLimits({ requests: { points: 1, seconds: 60 } }),
    });
    const codes: number[] = [];
    for (let n = 0; n < 2; n += 1) {
      await using socket = await openSocket(socketUrl(server));
      socket.send({ type: 'connection_init', payload: { token: 'nonsense' } });
      const { code, reason } = await socket.closed;
      codes.push(code);
      if (n === 1) expect(reason).toMatch(/^Too many requests, try again in \d+ s$/);
    }
    expect(codes).toEqual([4403, 1013]);
    await using socket = await openGreetedSocket(socketUrl(server), await app.token('careless'));
    for (const code of ['BAD_USER_INPUT', 'RATE_LIMITED']) {
      socket.send({ type: 'subscribe', id: code, payload: { query: '{' } });
      expect(await socket.next()).toMatchObject({ type: 'error', payload: [{ extensions: { code } }] });
    }
  });
});
