import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN, expectRefusal, sendQuery, SERVICE, type BadRequest } from '../support/bad-requests.ts';
import { openRefusalWorld, type RefusalWorld } from '../support/refusal-world.ts';

const FEED = `query ($first: Int, $after: String, $filter: FeedFilter, $order: FeedOrder) {
  feed(first: $first, after: $after, filter: $filter, order: $order) { edges { cursor } }
}`;
const SLICE = `query ($refId: String!, $first: Int, $after: String, $filter: ActionFilter) {
  slice(refId: $refId, first: $first, after: $after, filter: $filter) { edges { cursor } }
}`;
const FOLLOWING = `query ($first: Int, $after: String) {
  viewer { following(first: $first, after: $after) { edges { cursor } } }
}`;
const ACTIONS = `query ($state: FanOutState, $first: Int, $after: String) {
  actions(fanOutState: $state, first: $first, after: $after) { edges { cursor } }
}`;
const NODE = 'query ($id: ID!) { node(id: $id) { id } }';
const NODES = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
const ACTION = 'query ($id: ID!) { action(id: $id) { id } }';
const LONG = 'x'.repeat(60_000);

let world: RefusalWorld;
beforeAll(async () => {
  world = await openRefusalWorld({ env: { BODY_LIMIT: '4MiB' } });
});
afterAll(async () => world[Symbol.asyncDispose]());

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function feed(name: string, variables: object, says: RegExp): BadRequest {
  return { name: `a feed with ${name}`, says, query: FEED, variables };
}

function slice(name: string, variables: object, says: RegExp): BadRequest {
  return { name: `a slice ${name}`, says, query: SLICE, variables: { refId: 'site', ...variables } };
}

const PAGE_SIZES: readonly (readonly [unknown, RegExp])[] = [
  [0, /Must be from 1 to 100, got 0/],
  [-1, /Must be from 1 to 100, got -1/],
  [101, /Must be from 1 to 100, got 101/],
  [2 ** 31, /Int cannot represent/],
  [1.5, /Int cannot represent/],
  ['10', /Int cannot represent/],
  [{ $gt: 0 }, /Int cannot represent/],
];

const pageSizes: readonly BadRequest[] = [
  { name: 'feed', query: FEED },
  { name: 'slice', query: SLICE, more: { refId: 'site' } },
  { name: 'following', query: FOLLOWING },
  { name: 'actions', query: ACTIONS, as: ADMIN },
].flatMap(({ name, query, more, as }) =>
  PAGE_SIZES.map(([first, says]) => ({
    name: `${name} with pages of ${JSON.stringify(first)}`,
    ...{ says, query, variables: { first, ...more } },
    ...(as === undefined ? {} : { as }),
  })),
);

type CursorOf = (world: RefusalWorld) => string;
const INVENTED: readonly (readonly [string, CursorOf])[] = [
  ['nothing', () => ''],
  ['garbage', () => 'bm90IGEgY3Vyc29y'],
  ['no base64', () => '\u0000 %$'],
  ['60 KB', () => LONG],
  ['a lone surrogate', () => '\ud800'],
];
const ofFeed: readonly (readonly [string, CursorOf])[] = [
  ...INVENTED,
  ["another reader's", ({ cursors }) => cursors.feedOfBob],
  ["a slice's", ({ cursors }) => cursors.sliceOfActor],
  ['one of what is followed', ({ cursors }) => cursors.following],
  ['a cursor cut short', ({ cursors }) => cursors.feedOfAnn.slice(0, -4)],
  ['a cursor with more behind it', ({ cursors }) => `${cursors.feedOfAnn}AAAA`],
  ['a cursor written otherwise', ({ cursors }) => `${cursors.feedOfAnn}==`],
  ['a cursor with one bit changed', ({ cursors }) => flipped(cursors.feedOfAnn)],
];
const ofSlice: readonly (readonly [string, CursorOf])[] = [
  ...INVENTED,
  ["another slice's", ({ cursors }) => cursors.sliceOfActor],
  ["a feed's", ({ cursors }) => cursors.feedOfAnn],
];
const ofOthers: readonly (readonly [string, CursorOf])[] = [
  ...INVENTED,
  ["a feed's", ({ cursors }) => cursors.feedOfAnn],
];

function flipped(cursor: string): string {
  const bytes = Buffer.from(cursor, 'base64url');
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  return bytes.toString('base64url');
}

const cursors: readonly BadRequest[] = [
  { list: 'the feed', query: FEED, bad: ofFeed },
  { list: 'a slice', query: SLICE, bad: ofSlice, more: { refId: 'site' } },
  { list: 'what is followed', query: FOLLOWING, bad: ofOthers },
  { list: 'the actions', query: ACTIONS, bad: ofOthers, as: ADMIN },
].flatMap(({ list, query, bad, more, as }) =>
  bad.map(([name, cursor]): BadRequest => ({
    name: `${name} as cursor of ${list}`,
    ...{ code: 'BAD_CURSOR', says: /cursor does not belong to this list/, query },
    variables: (given) => ({ ...more, after: cursor(given) }),
    ...(as === undefined ? {} : { as }),
  })),
);

const filters: readonly BadRequest[] = [
  feed('an unknown order', { order: 'BEST' }, /BEST/),
  feed('an unknown field of the filter', { filter: { $where: '1' } }, /\$where/),
  feed('a list as filter', { filter: [] }, /FeedFilter/),
  feed('101 types', { filter: { types: Array(101).fill('Custom') } }, /types: Must have at most 100/),
  feed('an empty type', { filter: { types: [''] } }, /types\.0: Must not be empty/),
  feed('an operator as actor', { filter: { actorIds: [{ $ne: '' }] } }, /String cannot represent/),
  feed('a tag of 257 characters', { filter: { tags: ['x'.repeat(257)] } }, /tags\.0: Must be at most/),
  feed('an empty ref', { filter: { refId: '' } }, /refId: Must not be empty/),
  feed('an operator as ref', { filter: { refId: { $regex: '.' } } }, /String cannot represent/),
  feed('30 February', { filter: { since: '2026-02-30T00:00:00Z' } }, /DateTime must be/),
  feed('a time without a zone', { filter: { until: '2026-01-01T00:00:00' } }, /DateTime must be/),
  feed('a number as time', { filter: { since: 0 } }, /DateTime must be/),
  feed('words for unreadOnly', { filter: { unreadOnly: 'yes' } }, /Boolean cannot represent/),
  feed('a number as cursor', { after: 7 }, /String cannot represent/),
  slice('of nothing', { refId: '' }, /refId: Must not be empty/),
  slice('of 257 characters', { refId: 'x'.repeat(257) }, /refId: Must be at most 256/),
  slice('of 60 KB', { refId: LONG }, /refId: Must be at most 256/),
  slice('of NUL', { refId: 'a\u0000' }, /refId: Must not contain control/),
  slice('of a lone surrogate', { refId: 'a\udfff' }, /refId: Must be well-formed/),
  slice('of an operator', { refId: { $gt: '' } }, /String cannot represent/),
  slice('of null', { refId: null }, /\$refId/),
  slice('with a filter of feeds', { filter: { unreadOnly: true } }, /unreadOnly/),
  slice('with a lone surrogate as tag', { filter: { tags: ['\ud83d'] } }, /tags\.0: Must be well-formed/),
  {
    name: 'actions of an unknown state',
    says: /SLOW/,
    query: ACTIONS,
    as: ADMIN,
    variables: { state: 'SLOW' },
  },
];

const MALFORMED: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['no base64', 'not base64!'],
  ['an id that is not encoded', 'Action:0123456789abcdef01234567'],
  ['base64 without a type', base64('0123456789abcdef01234567')],
  ['an action id one digit short', base64('Action:0123456789abcdef0123456')],
  ['an action id in capitals', base64('Action:0123456789ABCDEF01234567')],
  ['an action id that is an operator', base64('Action:{"$gt":""}')],
  ['an item id without an action', base64('NewsfeedItem:ann')],
  ['a member id of nothing', base64('Member:')],
  ['base64 of half a character', Buffer.from('Member:\u00e4').subarray(0, 8).toString('base64')],
  ['base64 with line breaks', `${base64('Member:ann')}\n`],
  ['60 KB', LONG],
];

const ids: readonly BadRequest[] = [
  ...MALFORMED.flatMap(([name, id]): BadRequest[] => [
    { name: `${name} as node`, says: /Not an id of this API/, query: NODE, variables: { id } },
    { name: `${name} as action`, says: /Not an id/, query: ACTION, variables: { id } },
  ]),
  { name: 'an operator as node', says: /ID cannot represent/, query: NODE, variables: { id: { $gt: '' } } },
  { name: 'a number as node', says: /Not an id of this API/, query: NODE, variables: { id: 7 } },
  { name: 'null as node', says: /\$id/, query: NODE, variables: { id: null } },
  {
    name: "a member's id as action",
    says: /Not the id of an action/,
    query: ACTION,
    variables: ({ ids: { member } }) => ({ id: member }),
  },
  {
    name: "an item's id as action",
    says: /Not the id of an action/,
    query: ACTION,
    variables: ({ ids: { item } }) => ({ id: item }),
  },
  {
    name: 'an unknown type as action',
    says: /Not the id of an action/,
    query: ACTION,
    variables: { id: base64('Nothing:0123456789abcdef01234567') },
  },
  {
    name: '101 nodes',
    says: /\$ids": must have at most 100 entries, got 101/,
    query: NODES,
    variables: ({ ids: { action } }) => ({ ids: Array(101).fill(action) }),
  },
];

test.each([...pageSizes, ...cursors, ...filters, ...ids])('rejects $name', async (request) => {
  await expectRefusal(world, request, () => sendQuery(world, request));
});

test('finds nothing for valid ids of nothing', async () => {
  const unknown = [
    'Action:0123456789abcdef01234567',
    'NewsfeedItem:ann:0123456789abcdef01234567',
    'Member:nobody',
    'Nothing:1',
    '__proto__:1',
  ].map(base64);
  const nodes = await sendQuery(world, { query: NODES, variables: { ids: unknown } });
  expect([nodes.errors, nodes.data]).toEqual([[], { nodes: unknown.map(() => null) }]);
  const action = await sendQuery(world, { query: ACTION, variables: { id: unknown[0] } });
  expect([action.errors, action.data]).toEqual([[], { action: null }]);
});

test('returns null for an invalid entry of nodes, and the others', async () => {
  const { action } = world.ids;
  const none = ['nonsense', '', 'x'.repeat(60_000), base64('Action:xyz'), `${action}=`];
  const { errors, data } = await sendQuery(world, {
    query: NODES,
    variables: { ids: [action, ...none, action] },
  });
  expect([errors, data]).toEqual([[], { nodes: [{ id: action }, ...none.map(() => null), { id: action }] }]);
});

test("finds nothing for the id of another reader's item", async () => {
  const answer = await sendQuery(world, {
    query: NODE,
    as: { sub: 'bob' },
    variables: ({ ids: { item } }) => ({ id: item }),
  });
  expect([answer.errors, answer.data]).toEqual([[], { node: null }]);
});

test('answers the same queries without the fault', async () => {
  const good = await Promise.all([
    sendQuery(world, {
      query: FEED,
      variables: ({ cursors: { feedOfAnn } }) => ({ after: feedOfAnn, first: 100 }),
    }),
    sendQuery(world, {
      query: SLICE,
      variables: ({ cursors: { sliceOfSite } }) => ({ refId: 'site', after: sliceOfSite, filter: {} }),
    }),
    sendQuery(world, { query: FOLLOWING, variables: (given) => ({ after: given.cursors.following }) }),
    sendQuery(world, { query: ACTIONS, as: ADMIN, variables: (given) => ({ after: given.cursors.actions }) }),
    sendQuery(world, { query: NODE, variables: (given) => ({ id: given.ids.item }) }),
    sendQuery(world, { query: ACTION, as: SERVICE, variables: (given) => ({ id: given.ids.action }) }),
  ]);
  expect(good.map(({ errors }) => errors)).toEqual(good.map(() => []));
  expect(good.slice(0, 4).map(({ text }) => (text.match(/"cursor"/g) ?? []).length)).toEqual([2, 2, 1, 2]);
});
