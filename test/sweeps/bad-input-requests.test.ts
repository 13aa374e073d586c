import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ANN,
  expectRefusal,
  send,
  sendQuery,
  type BadRequest,
  type RawRequest,
} from '../support/bad-requests.ts';
import { openRefusalWorld, type RefusalWorld } from '../support/refusal-world.ts';

let world: RefusalWorld;
let authorization: string;
beforeAll(async () => {
  world = await openRefusalWorld({ env: { BODY_LIMIT: '256KiB' } });
  authorization = `Bearer ${await world.app.token('ann')}`;
});
afterAll(async () => world[Symbol.asyncDispose]());

const MUTATION = 'mutation { follow(refId: "site") { refId } }';

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

function document(name: string, query: string, says: RegExp, variables: object = {}): BadRequest {
  return { name, query, says, variables };
}

const documents: readonly BadRequest[] = [
  document('a syntax error', '{ viewer {', /Syntax Error/),
  document('an empty document', '', /./),
  document('a comment', '# nothing', /Syntax Error/),
  document('only a fragment', 'fragment F on Query { viewer { memberId } }', /./),
  document('an unknown field', '{ viewer { password } }', /password/),
  document('an unknown argument', '{ viewer(id: 1) { memberId } }', /"id"/),
  document('an unknown type', '{ node(id: "x") { ... on Nothing { id } } }', /Nothing/),
  document('an unknown directive', '{ viewer @nope { memberId } }', /nope/),
  document('a missing selection', '{ viewer }', /selection of subfields/),
  document('a missing argument', '{ slice { edges { cursor } } }', /refId/),
  document('a missing variable', MUTATION.replace('"site"', '$ref'), /\$ref/),
  document('an unused variable', 'query ($x: Int) { viewer { memberId } }', /\$x/),
  document('a fragment that spreads itself', '{ ...F } fragment F on Query { ...F }', /F/),
  document('a mutation among queries', `{ ${MUTATION.slice(11)}`, /follow/),
  document(
    '30 February as literal',
    'mutation { markFeedRead(upTo: "2026-02-30T00:00:00Z") { lastRead } }',
    /DateTime/,
  ),
  document(
    'a number as time literal',
    'mutation { markFeedRead(upTo: 1767225600) { lastRead } }',
    /DateTime/,
  ),
  document('a literal of another type', 'mutation { follow(refId: 7) { refId } }', /String cannot represent/),
  document(
    'a literal beyond 32 bits',
    '{ feed(first: 2147483648) { edges { cursor } } }',
    /Int cannot represent/,
  ),
  document(
    'several operations and no name',
    'query A { viewer { memberId } } query B { viewer { memberId } }',
    /./,
  ),
  document('13 levels of fields', deep(13), /13 fields deep, at most 12/),
  document('101 aliases', `{ ${times(101, (n) => `a${String(n)}: __typename`).join(' ')} }`, /101 aliases/),
  document(
    '51 directives',
    `{ viewer { ${times(51, () => 'memberId @include(if: true)').join(' ')} } }`,
    /51 dir/,
  ),
  document('2001 tokens', `{ viewer { ${'memberId '.repeat(2_000)}} }`, /tokens/i),
  document(
    'a document of 128 KiB and more',
    `{ viewer { memberId } } #${'x'.repeat(128 * 1024)}`,
    /characters/,
  ),
  document('more objects than can be paid for', costly(), /objects, at most 50000/),
  document(
    'a field that is repeated 900 times',
    `{ viewer { ${'member { name } '.repeat(450)} } }`,
    /too many fields under one name/,
  ),
  document(
    'a field that is repeated 900 times with other arguments',
    `{ ${times(300, (n) => `node(id: "${String(n)}") { id }`).join(' ')} }`,
    /2000 tokens/,
  ),
  document('500 unknown fields', `{ ${times(500, (n) => `nope${String(n)}`).join(' ')} }`, /nope0/),
  document(
    '300 unused variables',
    `query (${times(300, (n) => `$v${String(n)}: Int`).join(' ')}) { viewer { memberId } }`,
    /\$v0/,
  ),
  document(
    '100 variables of the wrong type',
    `query (${times(100, (n) => `$v${String(n)}: Int`).join(' ')}) { ${times(100, (n) => `a${String(n)}: slice(refId: "r", first: $v${String(n)}) { __typename }`).join(' ')} }`,
    /\$v0/,
    Object.fromEntries(times(100, (n) => [`v${String(n)}`, 'x'])),
  ),
  document('1000 levels of a list', `{ node(id: ${'['.repeat(998)}${']'.repeat(998)}) { id } }`, /ID|tokens/),
];

/** `feed { edges { node { action { refs { …` with fields below that only the count of levels sees. */
function deep(levels: number): string {
  const names = ['feed', 'edges', 'node', 'action', 'refs'];
  return `{ ${times(levels, (n) => names[n] ?? 'isFollowed').join(' { ')}${' }'.repeat(levels)}`;
}

function costly(): string {
  const page = 'feed(first: 100) { edges { node { action { actor { id } refs { refId } } } } }';
  return `{ ${times(20, (n) => `a${String(n)}: ${page}`).join(' ')} }`;
}

test.each(documents)('rejects $name', async (request) => {
  await expectRefusal(world, request, () => sendQuery(world, request));
});

const json = (body: unknown): string => JSON.stringify(body);
const inUrl = (query: string, more = ''): string => `/graphql?query=${encodeURIComponent(query)}${more}`;
const QUERY = '{ viewer { memberId } }';
const SUBSCRIPTION = 'subscription { feedEvents { cursor } }';

const raw: readonly (readonly [string, number | RegExp, RawRequest])[] = [
  ['no JSON', /not JSON/, { body: '{"query":' }],
  ['no body', /not JSON/, { body: '' }],
  ['bytes that are no UTF-8', /not UTF-8/, { body: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]) }],
  ['compressed JSON', /./, { body: new Uint8Array(gzipSync(json({ query: MUTATION }))) }],
  ...['gzip', 'br', 'deflate', 'identity, gzip', 'nothing-known'].map(
    (encoding) =>
      [
        `a body with content-encoding: ${encoding}`,
        415,
        { body: json({ query: MUTATION }), headers: { 'content-encoding': encoding } },
      ] as const,
  ),
  ...['utf-16', 'iso-8859-1', '"UTF-16LE"', 'us-ascii'].map(
    (charset) =>
      [
        `a body of the charset ${charset}`,
        415,
        {
          body: json({ query: MUTATION }),
          headers: { 'content-type': `application/json; charset=${charset}` },
        },
      ] as const,
  ),
  ['null', /JSON object/, { body: 'null' }],
  ['a number', /JSON object/, { body: '7' }],
  ['text', /JSON object/, { body: json(MUTATION) }],
  ['an empty object', /JSON object/, { body: '{}' }],
  ['no query', /./, { body: json({ variables: {} }) }],
  ['a query that is a list', /./, { body: json({ query: [MUTATION] }) }],
  ['a query that is an object', /./, { body: json({ query: { $gt: '' } }) }],
  ['a batch', /./, { body: json([{ query: MUTATION }, { query: MUTATION }]) }],
  ['a prototype for a query', /./, { body: `{"__proto__":{"query":${json(MUTATION)}}}` }],
  ['variables that are a list', /./, { body: json({ query: MUTATION, variables: [] }) }],
  ['variables that are text', /./, { body: json({ query: MUTATION, variables: '{}' }) }],
  ['an operation that is not there', /./, { body: json({ query: MUTATION, operationName: 'Other' }) }],
  ['an operation name that is an object', /./, { body: json({ query: MUTATION, operationName: {} }) }],
  ['extensions that are text', /./, { body: json({ query: MUTATION, extensions: 'x' }) }],
  ['text/plain', 415, { body: json({ query: MUTATION }), headers: { 'content-type': 'text/plain' } }],
  [
    'a form',
    415,
    { body: inUrl(MUTATION).slice(9), headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  ],
  [
    'a multipart form',
    415,
    { body: '--x--', headers: { 'content-type': 'multipart/form-data; boundary=x' } },
  ],
  ['GraphQL as it is', 415, { body: MUTATION, headers: { 'content-type': 'application/graphql' } }],
  [
    'a body over the limit',
    413,
    { body: json({ query: MUTATION, variables: { x: 'x'.repeat(256 * 1024) } }) },
  ],
  ['a mutation by GET', 405, { method: 'GET', path: inUrl(MUTATION) }],
  [
    'a mutation by GET under another name',
    405,
    {
      method: 'GET',
      path: inUrl(`query A ${QUERY} ${MUTATION.replace('mutation', 'mutation B')}`, '&operationName=B'),
    },
  ],
  ['GET without a query', /./, { method: 'GET', path: '/graphql' }],
  ['GET with variables that are no JSON', /JSON/, { method: 'GET', path: inUrl(QUERY, '&variables={') }],
  [
    'GET with variables of 1000 levels',
    /more than 32 levels/,
    { method: 'GET', path: inUrl(QUERY, `&variables={"x":${'['.repeat(1_000)}${']'.repeat(1_000)}}`) },
  ],
  [
    'GET with extensions of 1000 levels',
    /more than 32 levels/,
    { method: 'GET', path: inUrl(QUERY, `&extensions={"x":${'['.repeat(1_000)}${']'.repeat(1_000)}}`) },
  ],
  ['a mutation by PUT', 405, { method: 'PUT', body: json({ query: MUTATION }) }],
  ['a mutation by DELETE', 405, { method: 'DELETE', path: inUrl(MUTATION) }],
];

test.each(raw)('rejects %s', async (_name, expected, request) => {
  const says = typeof expected === 'number' ? /./ : expected;
  const answer = await expectRefusal(world, { says }, () =>
    send(world, { ...request, headers: { authorization, ...request.headers } }),
  );
  if (typeof expected === 'number') expect(answer.status).toBe(expected);
});

test.each(['utf-8', 'UTF-8', '"utf-8"', 'utf8'])('accepts a body with the charset %s', async (charset) => {
  const answer = await send(world, {
    headers: { authorization, 'content-type': `application/json; charset=${charset}` },
    body: json({ query: QUERY }),
  });
  expect([answer.status, answer.errors]).toEqual([200, []]);
});

test('accepts a body with content-encoding identity', async () => {
  const answer = await send(world, {
    headers: { authorization, 'content-encoding': 'identity' },
    body: json({ query: QUERY }),
  });
  expect([answer.status, answer.errors]).toEqual([200, []]);
});

test.each([
  ['image/png', MUTATION],
  ['text/html', MUTATION],
  ['application/json', SUBSCRIPTION],
  ['application/graphql-response+json', SUBSCRIPTION],
])('rejects before execution what cannot be answered as %s: %s', async (accept, query) => {
  await expectRefusal(world, { says: /accept|event-stream/i }, () =>
    send(world, { headers: { authorization, accept }, body: json({ query }) }),
  );
  expect(world.app.app.http?.stats().subscriptions).toBe(0);
});

test('limits the requests of one user per window, with RATE_LIMITED', async () => {
  await using limited = await openRefusalWorld({ env: { RATE_LIMIT: '50/1m' } });
  const answers = [];
  for (let n = 0; n < 60; n += 1) answers.push(await sendQuery(limited, { query: QUERY, as: ANN }));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  for (const { errors } of refused) expect(errors[0]?.extensions).toEqual({ code: 'RATE_LIMITED' });
  const other = await sendQuery(limited, { query: QUERY, as: { sub: 'somebody else' } });
  expect(other.errors).toEqual([]);
});
