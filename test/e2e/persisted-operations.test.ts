import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config.ts';
import type { Role } from '../../src/domain/viewer.ts';
import type { HttpServer } from '../../src/http/server.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask } from '../support/feed-api.ts';
import { socketUrl, startTestHttp } from '../support/http.ts';
import { openGreetedSocket } from '../support/socket.ts';

const ME = 'query Me { viewer { memberId } }';
const WATCH = 'subscription Watch { feedEvents { __typename cursor } }';
const PAGE = 'query Page($first: Int) { feed(first: $first) { edges { cursor } } }';
const SHA = '5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef';

let folder = '';
let app: TestApp;
/** Takes the operations of the list and any others. */
let open: HttpServer;
/** Takes from users nothing but the list. */
let closed: HttpServer;

async function fileOf(content: unknown): Promise<string> {
  const path = join(folder, `${crypto.randomUUID()}.json`);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return path;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-persisted-'));
  app = await startTestApp({ worker: false });
  // As the client preset of GraphQL Code Generator and the compiler of Relay write it.
  const path = await fileOf({ me: ME, watch: WATCH, page: PAGE, [SHA]: ME });
  open = await startTestHttp(app, { persistedOperations: { path, isOnly: false } });
  closed = await startTestHttp(app, { persistedOperations: { path, isOnly: true }, graphiql: true });
});
afterAll(async () => {
  await open.close();
  await closed.close();
  await app[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly data: unknown;
}

async function answerOf(response: Response): Promise<Answer> {
  const { data = null, errors = [] } = (await response.json()) as {
    data?: unknown;
    errors?: { message: string; extensions: { code: string } }[];
  };
  const [error] = errors;
  return {
    status: response.status,
    code: error?.extensions.code ?? 'OK',
    message: error?.message ?? '',
    data,
  };
}

async function post(server: HttpServer, body: unknown, roles: readonly Role[] = ['user']): Promise<Answer> {
  const authorization = `Bearer ${await app.token('ann', roles)}`;
  return answerOf(
    await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify(body),
    }),
  );
}

async function get(server: HttpServer, params: Readonly<Record<string, string>>, accept: string) {
  return fetch(`${server.url}/graphql?${new URLSearchParams(params).toString()}`, {
    headers: { accept, ...('ticket' in params ? {} : { authorization: `Bearer ${await app.token('ann')}` }) },
  });
}

const APOLLO = { extensions: { persistedQuery: { version: 1, sha256Hash: SHA } } };

describe('a listed operation', () => {
  test.each([
    ['documentId, as GraphQL over HTTP has it', { documentId: 'me' }],
    ['documentId with the name of its hash', { documentId: `sha256:${SHA}` }],
    ['doc_id, as Relay has it', { doc_id: 'me', query: '' }],
    ['the hash of Apollo', APOLLO],
  ])('can be requested by %s', async (_how, body) => {
    for (const server of [open, closed])
      expect(await post(server, body)).toMatchObject({ status: 200, data: { viewer: { memberId: 'ann' } } });
  });

  test('accepts variables, which are checked and counted as usual', async () => {
    expect(await post(closed, { documentId: 'page', variables: { first: 1 } })).toMatchObject({
      data: { feed: { edges: [] } },
    });
    expect(await post(closed, { documentId: 'page', variables: { last: 1 } })).toMatchObject({
      code: 'BAD_USER_INPUT',
      message: 'Variable "$last" is not declared by the operation',
    });
  });

  test('can be requested by GET too', async () => {
    for (const params of [{ documentId: 'me' }, { extensions: JSON.stringify(APOLLO.extensions) }])
      expect(await answerOf(await get(closed, params, 'application/json'))).toMatchObject({
        data: { viewer: { memberId: 'ann' } },
      });
  });

  test('can be subscribed to over a socket', async () => {
    await using socket = await openGreetedSocket(socketUrl(closed), await app.token('ann'));
    const extensions = { persistedQuery: { sha256Hash: 'watch' } };
    socket.send({ type: 'subscribe', id: '1', payload: { query: '', extensions } });
    expect(await socket.next()).toMatchObject({
      type: 'next',
      payload: { data: { feedEvents: { __typename: 'FeedReady' } } },
    });
  });

  test('can be subscribed to by an event stream with a ticket', async () => {
    const { createTicket } = await ask<{ createTicket: { ticket: string } }>(
      app,
      'mutation { createTicket { ticket } }',
      {},
      { sub: 'ann' },
    );
    const params = { ticket: createTicket.ticket, documentId: 'watch' };
    const stream = await get(closed, params, 'text/event-stream');
    const reader = stream.body?.getReader();
    let text = '';
    while (!text.includes('FeedReady')) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) break;
      text += new TextDecoder().decode(value);
    }
    await reader?.cancel();
    expect(text).toContain('FeedReady');
    // A ticket opens no more than it does with a document.
    expect((await get(closed, { ...params, documentId: 'me' }, 'text/event-stream')).status).toBe(403);
  });
});

describe('an unknown id', () => {
  test('makes Apollo clients send the document, if documents are allowed', async () => {
    const unknown = { extensions: { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } } };
    expect(await post(open, unknown)).toMatchObject({
      code: 'BAD_USER_INPUT',
      message: 'PersistedQueryNotFound',
    });
    expect(await post(open, { ...unknown, query: ME })).toMatchObject({ status: 200 });
    expect(await post(closed, unknown)).toMatchObject({
      code: 'BAD_USER_INPUT',
      message: 'The list of persisted operations has no operation with this id',
    });
  });

  test.each(['__proto__', 'constructor', 'toString', ' me', 'ME'])('%j is rejected', async (documentId) => {
    expect(await post(open, { documentId })).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test('ends only its operation on a socket', async () => {
    await using socket = await openGreetedSocket(socketUrl(open), await app.token('ann'));
    for (const [id, extensions] of [
      ['1', { persistedQuery: { sha256Hash: 'none' } }],
      ['2', { persistedQuery: null }],
      ['3', undefined],
    ] as const) {
      socket.send({ type: 'subscribe', id, payload: { query: '', extensions } });
      expect(await socket.next()).toMatchObject({
        ...{ type: 'error', id },
        payload: [{ extensions: { code: 'BAD_USER_INPUT' } }],
      });
    }
  });
});

describe('without a list', () => {
  test('an Apollo client that sends hashes continues with documents', async () => {
    await using server = await startTestHttp(app);
    const sent: string[] = [];
    const link = new PersistedQueryLink({
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
    });
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: link.concat(
        new HttpLink({
          uri: `${server.url}/graphql`,
          headers: { authorization: `Bearer ${await app.token('ann')}` },
          fetch: (input, init) => {
            const body = typeof init?.body === 'string' ? init.body : '';
            sent.push(body.includes('"query"') ? 'document' : 'hash');
            return fetch(input, init);
          },
        }),
      ),
    });
    for (let n = 0; n < 2; n += 1)
      expect(await client.query({ query: parse(ME), fetchPolicy: 'no-cache' })).toMatchObject({
        data: { viewer: { memberId: 'ann' } },
      });
    expect(sent).toEqual(['hash', 'document', 'document']);
    const answer = { code: 'BAD_USER_INPUT', message: 'PersistedQueryNotSupported' };
    expect(await post(server, APOLLO)).toMatchObject(answer);
    expect(await post(server, { ...APOLLO, query: ME })).toMatchObject({ status: 200 });
    const params = { extensions: JSON.stringify(APOLLO.extensions) };
    expect(await answerOf(await get(server, params, 'application/json'))).toMatchObject(answer);
    await using socket = await openGreetedSocket(socketUrl(server), await app.token('ann'));
    socket.send({ type: 'subscribe', id: '1', payload: { query: '', ...APOLLO } });
    expect(await socket.next()).toMatchObject({
      payload: [{ message: answer.message, extensions: { code: answer.code } }],
    });
  });
});

describe('with only listed operations', () => {
  const OTHER = { query: '{ viewer { memberId name } }' };

  test('users may not send other documents, also beside an id', async () => {
    for (const body of [OTHER, { ...OTHER, documentId: 'me' }, { query: '{ __schema { types { name } } }' }])
      expect(await post(closed, body)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await answerOf(await get(closed, OTHER, 'application/json'))).toMatchObject({ code: 'FORBIDDEN' });
    await using socket = await openGreetedSocket(socketUrl(closed), await app.token('ann'));
    socket.send({ type: 'subscribe', id: '1', payload: OTHER });
    expect(await socket.next()).toMatchObject({ payload: [{ extensions: { code: 'FORBIDDEN' } }] });
  });

  test('a document that equals a listed one is allowed', async () => {
    expect(await post(closed, { query: ME })).toMatchObject({ status: 200 });
    expect(await post(closed, { query: `${ME} ` })).toMatchObject({ code: 'FORBIDDEN' });
  });

  test("services and admins may send any document, so that operators' pages and imports work", async () => {
    for (const role of ['service', 'admin'] as const)
      expect(await post(closed, OTHER, ['user', role])).toMatchObject({ status: 200 });
    const page = await get(closed, {}, 'text/html');
    expect(page.headers.get('content-type')).toContain('text/html');
    await page.body?.cancel();
  });

  test.each([null, 5, 'text', {}, { query: 5 }, { documentId: 5 }, { extensions: 'x' }])(
    'an invalid request has its own error: %j',
    async (body) => {
      expect(await post(closed, body)).toMatchObject({ status: 400, code: 'BAD_USER_INPUT' });
    },
  );
});

describe('the file of operations', () => {
  async function faultsOf(content: unknown): Promise<string[]> {
    const path = await fileOf(content);
    const started = startTestHttp(app, { persistedOperations: { path, isOnly: false } });
    const error = await started.then(
      async (server) => {
        await server.close();
        return null;
      },
      (thrown: unknown) => thrown,
    );
    if (error === null) return [];
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).faults.map(({ message }) => message.replace(path, 'file'));
  }

  test('can be an Apollo manifest', async () => {
    const operations = [{ id: 'x', name: 'Me', type: 'query', body: ME }];
    expect(await faultsOf({ format: 'apollo-persisted-query-manifest', version: 1, operations })).toEqual([]);
  });

  test('with faults keeps the server from starting; each is reported with its line', async () => {
    const fields = { good: ME, old: '{ viewer { nickname } }', odd: '{', not: 5, '': ME };
    expect(await faultsOf(fields)).toEqual([
      expect.stringMatching(/^file:5: expected a document as text$/),
      expect.stringMatching(/^file:6: expected an id of 1 to 256 characters$/),
      expect.stringMatching(/^file:3: "old": Cannot query field "nickname" on type "Viewer"/),
      expect.stringMatching(/^file:4: "odd": Syntax Error/),
    ]);
    expect(await faultsOf('{\n  "a": "{ __typename }",\n  nonsense\n}')).toEqual([
      expect.stringMatching(/^file:3: is not JSON: /),
    ]);
    expect(await faultsOf('[]')).toEqual(['file:1: expected an object of documents by id']);
    expect(await faultsOf('')).toEqual([expect.stringMatching(/^file:1: is not JSON: /)]);
    expect(await faultsOf('{"a": "{ __typename }",\n"a": "query A { __typename }"}')).toEqual([
      'file:2: "a" occurs twice, with different documents',
    ]);
  });

  test('with documents beyond the limits does so too', async () => {
    const aliases = `{ ${Array.from({ length: 101 }, (_, n) => `a${String(n)}: __typename`).join(' ')} }`;
    expect(await faultsOf({ aliases })).toEqual([
      'file:2: "aliases": The document has 101 aliases, at most 100 are allowed',
    ]);
    expect(await faultsOf({ long: `{ __typename } #${'x'.repeat(131_072)}` })).toEqual([
      expect.stringContaining('characters, at most 131072 are allowed'),
    ]);
  });

  test('that does not exist does so too', async () => {
    const started = startTestHttp(app, { persistedOperations: { path: '/nothing/here', isOnly: false } });
    await expect(started).rejects.toThrow(/PERSISTED_OPERATIONS: \/nothing\/here cannot be read: ENOENT/);
  });
});
