import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { findOperation } from '../../../src/graphql/limits/document-limits.ts';
import { variablesFault } from '../../../src/graphql/limits/variables.ts';
import { buildSchema } from '../../../src/app/schema.ts';

const schema = await buildSchema();

function faultOf(query: string, variables: Readonly<Record<string, unknown>>, name?: string): string | null {
  const document = parse(query);
  const operation = findOperation(document, name);
  if (operation === null) throw new Error('No operation');
  return variablesFault(schema, document, operation, variables);
}

const many = <T>(count: number, value: T): T[] => Array<T>(count).fill(value);
const keys = (count: number): object =>
  Object.fromEntries(many(count, 0).map((_, n) => [`k${String(n)}`, n]));

const FEED = 'query ($f: FeedFilter) { feed(filter: $f) { state } }';
const PUBLISH = 'mutation ($i: [PublishActionInput!]!) { publishActions(inputs: $i) { isReplay } }';
const NODES = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
const custom = (data: unknown) => ({ i: [{ descriptor: { custom: { data } } }] });

test.each([
  [FEED, { f: { types: ['Custom'], actorIds: many(101, 'x'), refId: 'x'.repeat(1_000) } }],
  [FEED, { f: null }],
  [FEED, {}],
  [FEED, { g: null }],
  // What does not fit its type is for GraphQL to say, also one name that it may have a better one for.
  [FEED, { f: 7 }],
  [FEED, { f: { actorId: 'x' } }],
  [FEED, { f: { types: 7, refId: {} } }],
  [NODES, { ids: many(100, 'x') }],
  [NODES, { ids: 'x' }],
  [PUBLISH, { i: many(500, {}) }],
  [PUBLISH, { i: [{ mentions: many(10_000, 'x') }] }],
  [PUBLISH, custom({ a: many(8_000, 0), b: 'x'.repeat(20_000) })],
])('accepts the size of %s %#', (query, variables) => {
  expect(faultOf(query, variables)).toBeNull();
});

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  [FEED, { g: 1 }, 'Variable "$g" is not declared by the operation'],
  [FEED, { ['x'.repeat(1_000)]: 1 }, `Variable "$${'x'.repeat(64)}…" is not declared by the operation`],
  [FEED, { f: keys(2) }, 'Variable "$f": has a property "k1", which the type FeedFilter does not have'],
  [
    FEED,
    { f: { ['x'.repeat(300)]: 1 } },
    `Variable "$f": has a property "${'x'.repeat(64)}…", which the type FeedFilter does not have`,
  ],
  [FEED, { f: [1, 2] }, 'Variable "$f": must be an object of the type FeedFilter, got a list'],
  [
    FEED,
    { f: { types: many(10_001, '') } },
    'Variable "$f": .types must have at most 10000 entries, got 10001',
  ],
  [
    FEED,
    { f: { refId: 'x'.repeat(65_537) } },
    'Variable "$f": .refId must have at most 65536 characters, got 65537',
  ],
  [NODES, { ids: many(101, 'x') }, 'Variable "$ids": must have at most 100 entries, got 101'],
  [PUBLISH, { i: many(501, {}) }, 'Variable "$i": must have at most 500 entries, got 501'],
  [
    PUBLISH,
    { i: [{}, { scope: 'X'.repeat(257) }] },
    'Variable "$i": [1].scope must have at most 256 characters, got 257',
  ],
  [
    PUBLISH,
    custom(many(16_384, 0)),
    'Variable "$i": [0].descriptor.custom.data exceeds the allowed amount of JSON',
  ],
  [
    PUBLISH,
    custom(many(5, 'x'.repeat(60_000))),
    'Variable "$i": [0].descriptor.custom.data exceeds the allowed amount of JSON',
  ],
])('reports what of %s is too large: %#', (query, variables, fault) => {
  expect(faultOf(query, variables)).toBe(fault);
});

test('checks the operation that runs, with the larger bound if a name is used twice', () => {
  const both = `query A($x: [ID!]!) { nodes(ids: $x) { id } } mutation B($x: [MemberInput!]!) { upsertMembers(members: $x) }`;
  expect(faultOf(both, { x: many(1_000, {}) }, 'B')).toBeNull();
  expect(faultOf(both, { x: many(1_001, {}) }, 'B')).toMatch(/at most 1000/);
  expect(faultOf('query A($x: Int) { __typename } query B { __typename }', { x: 1 }, 'B')).toMatch(
    /declared/,
  );
});

test.each(['upsertMembers(members', 'upsertRefs(refs', 'followMany(pairs'])('limits %s', (call) => {
  const type = { m: 'MemberInput', r: 'RefInput', p: 'FollowInput' }[call.split('(')[1]?.[0] ?? ''] ?? '';
  const query = `mutation ($x: [${type}!]!) { ${call}: $x) }`;
  expect(faultOf(query, { x: many(1_001, {}) })).toMatch(/at most 1000 entries, got 1001/);
});
