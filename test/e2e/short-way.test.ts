import { connect } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { HttpServerOptions } from '../../src/http/http-context.ts';
import type { HttpServer } from '../../src/http/server.ts';
import { RateLimits } from '../../src/http/limits/rate-limit.ts';
import { ShortWay } from '../../src/http/execution/short-way.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { fc } from '../support/fast-check.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { startTestHttp } from '../support/http.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { ORIGIN, ME, PAGE, TWO, FOLLOW, NODES, MANY, PLAIN, OTHER, json } from '../support/plain-requests.ts';
import { repeats } from '../support/seed.ts';
import { exchange, wireBytes, type WireRequest } from '../support/wire.ts';

let app: TestApp;
let server: HttpServer;
let folder = '';
let token = '';
/** Whether the server may take it, and how often it did. */
let isOpen = true;
let taken = 0;
/** What was counted and logged of requests, without their times. */
let finished: string[] = [];

beforeAll(async () => {
  const { answer } = ShortWay.prototype;
  vi.spyOn(ShortWay.prototype, 'answer').mockImplementation(async function (this: ShortWay, req, context) {
    const given = isOpen ? await answer.call(this, req, context) : null;
    if (given !== null) taken += 1;
    return given;
  });
  folder = await mkdtemp(join(tmpdir(), 'fanfare-short-way-'));
  app = await startTestApp();
  await upsert(app, {
    members: [{ memberId: 'ann', name: 'Ann' }],
    refs: [{ id: 'site', type: 'site', label: 'Site' }],
    pairs: [{ followerId: 'ann', refId: 'site' }],
  });
  for (let n = 0; n < 4; n += 1) await publish(app, { refs: [{ id: 'site', type: 'site', label: 'Site' }] });
  await app.idle();
  token = await app.token('ann');
  server = await open();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await server.close();
  await app[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function open(options: Partial<HttpServerOptions> = {}): Promise<HttpServer> {
  const debug = (fields: object): void => {
    const { seconds, ...shown } = fields as Readonly<Record<string, unknown>>;
    if (seconds !== undefined) finished.push(JSON.stringify(shown));
  };
  const logger = { ...silentLogger(), debug };
  return startTestHttp(app, { corsOrigins: [ORIGIN], logger, ...options });
}

interface Seen {
  readonly answer: string;
  readonly finished: readonly string[];
}

/** What comes back where it is closed, at the second time of asking, and then where it is open. */
async function bothWays(bytes: Buffer, to = server): Promise<readonly [yoga: Seen, short: Seen]> {
  // These connections are kept.
  const isEnough = (text: string): boolean =>
    (text.includes('text/event-stream') && text.includes('\r\n\r\n')) || text.endsWith('\r\n0\r\n\r\n');
  const ask = async (): Promise<Seen> => {
    finished = [];
    const answer = await exchange(to.url, bytes, isEnough);
    return { answer: comparable(answer), finished };
  };
  isOpen = false;
  await ask();
  const yoga = await ask();
  isOpen = true;
  taken = 0;
  return [yoga, await ask()];
}

/** Without what is another each time, or in another place: the date, the reader, the language, cursors, ids of errors, and how much is left of a share. */
function comparable(text: string): string {
  const end = text.indexOf('\r\n\r\n');
  const [status, ...headers] = text.slice(0, end).split('\r\n');
  // Which of them comes first has no meaning.
  const answer = [status, ...headers.sort()].join('\r\n') + text.slice(end);
  return answer
    .replace(/\r\n(?:Date|Fanfare-Reader|Content-Language): [^\r]*/gi, '')
    .replace(/"errorId":"[^"]*"/g, '"errorId":""')
    .replace(/"(cursor)":"[^"]*"/g, '"$1":""')
    .replace(/;t=\d+/g, ';t=')
    .replace(/again in \d+ s/g, 'again in s')
    .replace(/retry-after: \d+/gi, 'retry-after: ')
    .replace(/(event: \w|:|data: )[^]*$/, (rest) => (answer.includes('text/event-stream') ? '' : rest));
}

function asAnn(request: WireRequest): Buffer {
  const headers = { authorization: `Bearer ${token}`, connection: 'close', ...request.headers };
  return wireBytes({ ...request, headers });
}

describe('simple requests get the same bytes from the short way as from Yoga', () => {
  test.each(PLAIN)('%s', async (_what, request) => {
    const [yoga, short] = await bothWays(asAnn(request));
    expect(short).toEqual(yoga);
    expect(short.answer).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(taken).toBe(1);
  });
});

describe('other requests are passed to Yoga before or after execution', () => {
  test.each(OTHER)('%s', async (_what, request) => {
    const [yoga, short] = await bothWays(asAnn(request));
    expect(short).toEqual(yoga);
    expect(taken).toBe(0);
  });
});

test('an invalid host header is rejected with 400 and is no internal error', async () => {
  const request = { headers: { host: 'no host' }, body: json({ query: ME }) };
  const [yoga, short] = await bothWays(asAnn(request));
  expect(yoga.answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(short).toEqual(yoga);
});

test('pipelined requests on one connection are answered in order', async () => {
  const bodies = [ME, '{ nothing }', TWO, PAGE, '{', FOLLOW, ME].map((query) => json({ query }));
  const headers = { authorization: `Bearer ${token}` };
  const kept = bodies.map((body) => wireBytes({ body, headers }));
  const [yoga, short] = await bothWays(Buffer.concat([...kept, asAnn({ body: json({ query: ME }) })]));
  expect(short).toEqual(yoga);
  expect(short.finished).toHaveLength(8);
  expect(taken).toBe(4);
});

test('a client that leaves before its answer is counted like any other', async () => {
  const leave = async (): Promise<string[]> => {
    finished = [];
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname, () => {
      socket.write(asAnn({ body: json({ query: PAGE }) }), () => socket.destroy());
    });
    await expect.poll(() => finished.length, { timeout: PATIENCE_MS }).toBe(1);
    return finished;
  };
  isOpen = false;
  const yoga = await leave();
  isOpen = true;
  expect(await leave()).toEqual(yoga);
});

describe('with rate limits', () => {
  async function spent(sub: string, to: HttpServer): Promise<string[]> {
    const shown: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const headers = { authorization: `Bearer ${await app.token(sub)}`, connection: 'close' };
      shown.push(comparable(await exchange(to.url, wireBytes({ headers, body: json({ query: MANY }) }))));
    }
    return shown;
  }

  test.each([
    ['of requests', { requests: { points: 3, seconds: 3_600 } }],
    ['of what operations cost', { cost: { points: 1_000, seconds: 3_600 } }],
  ])('%s, both answer the same', async (_what, limits) => {
    await using limited = await open({ rateLimits: new RateLimits(limits) });
    isOpen = false;
    const yoga = await spent('yoga', limited);
    isOpen = true;
    taken = 0;
    expect(await spent('short', limited)).toEqual(yoga);
    expect(taken).toBeGreaterThan(0);
    expect(yoga.at(-1)).toMatch(/^HTTP\/1\.1 429/);
  });
});

describe('with persisted operations', () => {
  const ID = 'me';

  test.each([
    ['a document of the list', { query: ME }, 1, true],
    ['a document of the list, of a server that takes others', { query: ME }, 1, false],
    ['another document', { query: PAGE }, 0, true],
    ['another document, of a server that takes others', { query: PAGE }, 1, false],
    ['an id', { documentId: ID }, 0, true],
    ['an id beside the document', { documentId: ID, query: ME }, 0, true],
    ['an id of Apollo', { query: ME, extensions: { persistedQuery: { sha256Hash: ID } } }, 0, true],
    ['an unknown id', { documentId: 'other' }, 0, true],
  ])('%s', async (_what, body, times, isOnly) => {
    const path = join(folder, 'operations.json');
    await writeFile(path, json({ [ID]: ME }));
    await using persisted = await open({ persistedOperations: { path, isOnly } });
    const [yoga, short] = await bothWays(asAnn({ body: json(body) }), persisted);
    expect(short).toEqual(yoga);
    expect(taken).toBe(times);
  });
});

const anyOf = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

test('any combination of request features is answered equally both ways', async () => {
  const bodies = fc.record(
    {
      query: anyOf<unknown>(ME, PAGE, TWO, FOLLOW, NODES, MANY, '{ nothing }', '{', '', 1, null),
      operationName: anyOf<unknown>(null, '', 'A', 'B', 'Me', 'Page', 1),
      variables: anyOf<unknown>(null, {}, [], { first: 1 }, { first: '1' }, { ref: 'site' }, { ids: [] }),
      extensions: anyOf<unknown>(null, {}, [], 'x'),
      other: anyOf<unknown>(null, 1),
    },
    { requiredKeys: ['query'] },
  );
  const headers = fc.record(
    {
      accept: anyOf(null, '*/*', '', 'application/graphql-response+json', 'text/*', 'application/*;q=0', ','),
      'content-type': anyOf(null, 'application/json;charset=utf-8', 'application/graphql+json', 'text/json'),
      origin: anyOf(ORIGIN, 'https://evil.example', 'null', ''),
      authorization: anyOf<string | null>(null, 'Bearer x', 'Basic x'),
      'x-forwarded-for': anyOf('10.0.0.1'),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(bodies, headers, fc.boolean(), async (body, given, isChunked) => {
      const [yoga, short] = await bothWays(asAnn({ body: json(body), headers: given, isChunked }));
      expect(short).toEqual(yoga);
    }),
    { numRuns: repeats(100) },
  );
});
