import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HttpServer } from '../../src/http/server.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { socketUrl, startTestHttp } from '../support/http.ts';
import { rawRequest } from '../support/raw-post.ts';
import { openGreetedSocket } from '../support/socket.ts';

// One value of 10 KB that a small document requests a hundred times, over every way in which answers are rendered.
const LIMIT = 100_000;
const TIMES = Array.from({ length: 40 }, (_, n) => `d${String(n)}: data`).join(' ');
const DATA = `descriptor { ... on CustomDescriptor { ${TIMES} } }`;
const TOO_LARGE = {
  message: expect.stringMatching(/^The answer is larger than 100000 bytes/) as unknown,
  extensions: { code: 'BAD_USER_INPUT' },
};
const INPUT = {
  scope: 'PUBLIC',
  descriptor: {
    custom: { verb: 'v', objectType: 'o', objectId: 'thing', data: { text: 'x'.repeat(10_000) } },
  },
};

let app: TestApp;
let server: HttpServer;
let id: string;
let authorization: string;
beforeAll(async () => {
  app = await startTestApp();
  server = await startTestHttp(app, { limits: { maxAnswerBytes: LIMIT } });
  authorization = `Bearer ${await app.token('ann')}`;
  await app.query('mutation { follow(refId: "ann") { id } }', {}, { sub: 'reader' });
  const { data } = await publish('action { id }');
  id = (data as { publishAction: { action: { id: string } } }).publishAction.action.id;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await app[Symbol.asyncDispose]();
});

const post = (query: string, variables: object = {}) =>
  rawRequest(`${server.url}/graphql`, {
    headers: { authorization },
    body: JSON.stringify({ query, variables }),
  });
const publish = (selection: string) =>
  post(`mutation ($input: PublishActionInput!) { publishAction(input: $input) { ${selection} } }`, {
    input: INPUT,
  });

test.each([
  ['rendered once for all viewers', `query ($id: ID!) { action(id: $id) { ${DATA} } }`],
  ['compiled', `query ($id: ID!) { action(id: $id) { viewer { canEdit } ${DATA} __typename } __typename }`],
  ['interpreted', `query ($id: ID!) { action(id: $id) @include(if: true) { ${DATA} } }`],
])('an answer that becomes too large is rejected, %s', async (_how, query) => {
  // Recurring documents are compiled after as many runs as they have fields.
  for (let run = 0; run < 60; run += 1) {
    const { errors, data } = await post(query, { id });
    expect({ errors, data }).toEqual({ errors: [TOO_LARGE], data: null });
  }
  expect(await post(query.replace(TIMES, 'data'), { id })).toMatchObject({ status: 200, errors: [] });
  expect(server.stats().answerBytes).toBe(0);
});

test('an answer that becomes too large is rejected on a socket, which stays open', async () => {
  await using socket = await openGreetedSocket(socketUrl(server), await app.token('ann'));
  const ask = async (query: string) => {
    socket.send({ type: 'subscribe', id: '1', payload: { query, variables: { id } } });
    const answer = await socket.next();
    expect(await socket.next()).toMatchObject({ type: 'complete', id: '1' });
    return answer;
  };
  const refused = await ask(`query ($id: ID!) { action(id: $id) { ${DATA} } }`);
  expect(refused).toMatchObject({ type: 'next', payload: { errors: [TOO_LARGE] } });
  const given = await ask('query ($id: ID!) { action(id: $id) { id } wrong: node(id: "x") { id } }');
  expect(given).toMatchObject({ type: 'next', id: '1', payload: { data: { action: { id }, wrong: null } } });
});

test('a mutation whose answer becomes too large is carried out', async () => {
  const { errors } = await publish(`action { ${DATA} }`);
  expect(errors).toEqual([TOO_LARGE]);
  const { data } = await post('{ slice(refId: "ann") { total { count } } }');
  expect(data).toEqual({ slice: { total: { count: 2 } } });
});

test('a live event that becomes too large is rejected for each watcher, whose stream continues', async () => {
  const token = await app.token('reader');
  const query = `subscription { feedEvents { ... on FeedItemAdded { item { action { ${DATA} } } } __typename } }`;
  await using first = await openGreetedSocket(socketUrl(server), token);
  await using second = await openGreetedSocket(socketUrl(server), token);
  const sockets = [first, second];
  for (const socket of sockets) socket.send({ type: 'subscribe', id: '1', payload: { query } });
  for (const socket of sockets)
    expect(await socket.next()).toMatchObject({
      payload: { data: { feedEvents: { __typename: 'FeedReady' } } },
    });
  await publish('action { id }');
  for (const socket of sockets)
    expect(await socket.next()).toMatchObject({ type: 'next', payload: { errors: [TOO_LARGE] } });
  await app.query(
    'mutation ($id: ID!) { hideFeedItem(actionId: $id) { actionId } }',
    { id },
    { sub: 'reader' },
  );
  for (const socket of sockets) expect(await socket.next()).toMatchObject({ type: 'next' });
});
