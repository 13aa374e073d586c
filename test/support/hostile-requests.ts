import type { Role } from '../../src/domain/viewer.ts';

/** A request that is made to cost the server much. */
export interface HostileRequest {
  readonly name: string;
  readonly as: 'user' | 'service';
  /** The document; a POST sends it with `variables`, which is JSON text, and `more` properties. */
  readonly query: string;
  readonly variables?: string;
  readonly more?: string;
  /** What the server is to say; null: it is large but good. */
  readonly says: RegExp | null;
  /** CPU time in milliseconds for which it may hold the event loop, whatever its size. Default 50. */
  readonly holdMs?: number;
}

export const HOSTILE_ROLES: Readonly<Record<HostileRequest['as'], readonly Role[]>> = {
  user: ['user'],
  service: ['service', 'admin'],
};

const FEED = 'query ($f: FeedFilter) { feed(first: 1, filter: $f) { edges { cursor } } }';
const ORDER = 'query ($o: FeedOrder) { feed(first: 1, order: $o) { edges { cursor } } }';
const SLICE = 'query ($r: String!) { slice(refId: $r, first: 1) { edges { cursor } } }';
const AFTER = 'query ($a: String) { feed(first: 1, after: $a) { edges { cursor } } }';
const NODES = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
const PUBLISH = 'mutation ($i: PublishActionInput!) { publishAction(input: $i) { isReplay } }';
const PUBLISH_MANY =
  'mutation ($i: [PublishActionInput!]!) { publishActions(inputs: $i) { error { code } } }';
const MEMBERS = 'mutation ($m: [MemberInput!]!) { upsertMembers(members: $m) }';

const TOO_LARGE = /larger than \d+ bytes|too large/;
const TOO_MUCH_JSON = /JSON (?:has more|is nested more)|in the JSON (?:has more|is longer)/;

const times = (count: number, make: (n: number) => string, separator = ','): string =>
  Array.from({ length: count }, (_, n) => make(n)).join(separator);
const keys = (count: number): string => `{${times(count, (n) => `"k${String(n)}":1`)}}`;
const list = (count: number, value: string): string => `[${times(count, () => value)}]`;
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const text = (length: number): string => JSON.stringify('x'.repeat(length));
const publish = (data: string): string =>
  `{"i":{"descriptor":{"custom":{"verb":"v","objectType":"o","objectId":"i","data":${data}}}}}`;

function both(
  name: string,
  query: string,
  variables: string,
  says: { readonly user: RegExp; readonly service: RegExp },
): HostileRequest[] {
  return (['user', 'service'] as const).map((as) => ({ name, as, query, variables, says: says[as] }));
}

const LARGE = { user: TOO_LARGE, service: TOO_MUCH_JSON };

const variables: readonly HostileRequest[] = [
  ...[60_000, 150_000, 300_000].flatMap((count) =>
    both(`a filter of ${String(count)} unknown keys`, FEED, `{"f":${keys(count)}}`, LARGE),
  ),
  ...both('a filter of 20,000 unknown keys', FEED, `{"f":${keys(20_000)}}`, {
    user: TOO_MUCH_JSON,
    service: TOO_MUCH_JSON,
  }),
  ...both('a filter of 9,000 unknown keys', FEED, `{"f":${keys(9_000)}}`, {
    user: /"k1", which the type FeedFilter does not have/,
    service: /"k1", which the type FeedFilter does not have/,
  }),
  ...both('a filter with a key of 200 KB', FEED, `{"f":{${text(200_000)}:1}}`, {
    user: /does not/,
    service: /does not/,
  }),
  ...both('80,000 actions', PUBLISH_MANY, `{"i":${list(80_000, '{}')}}`, {
    user: TOO_MUCH_JSON,
    service: TOO_MUCH_JSON,
  }),
  ...both('9,000 actions', PUBLISH_MANY, `{"i":${list(9_000, '{}')}}`, {
    user: /at most 500/,
    service: /at most 500/,
  }),
  ...both('500 empty actions', PUBLISH_MANY, `{"i":${list(500, '{}')}}`, {
    user: /descriptor/,
    service: /descriptor/,
  }),
  ...both('data of 2,000,000 elements', PUBLISH, publish(list(2_000_000, '0')), LARGE),
  ...both('data of 10,000 lists', PUBLISH, publish(list(10_000, '[0,0]')), {
    user: /allowed amount of JSON|\d+ bytes/,
    service: /allowed amount of JSON|\d+ bytes/,
  }),
  ...both('data of 9,000 keys', PUBLISH, publish(keys(9_000)), {
    user: /allowed amount of JSON|\d+ bytes/,
    service: /allowed amount of JSON|\d+ bytes/,
  }),
  ...both('an enum of 9 MB', ORDER, `{"o":${text(9_000_000)}}`, LARGE),
  ...both('an enum of 250 KB', ORDER, `{"o":${text(250_000)}}`, {
    user: /at most 256 char/,
    service: /at most 256 char/,
  }),
  ...both('a million ids', NODES, `{"ids":${list(1_000_000, '"eA=="')}}`, LARGE),
  ...both('10,000 ids', NODES, `{"ids":${list(10_000, '"eA=="')}}`, {
    user: /at most 100/,
    service: /at most 100/,
  }),
  ...both('900,000 levels that nobody declared', '{ __typename }', `{"x":${nested(900_000)}}`, LARGE),
  ...both('100,000 levels in data', PUBLISH, publish(nested(100_000)), {
    user: TOO_MUCH_JSON,
    service: TOO_MUCH_JSON,
  }),
  ...both('30 levels that nobody declared', '{ __typename }', `{"x":${nested(28)}}`, {
    user: /not declared/,
    service: /not declared/,
  }),
  ...both('a ref id of 9 MB', SLICE, `{"r":${text(9_000_000)}}`, LARGE),
  ...both('a ref id of 250 KB', SLICE, `{"r":${text(250_000)}}`, {
    user: /at most 65536/,
    service: /at most 65536/,
  }),
  ...both('a ref id of 60 KB', SLICE, `{"r":${text(60_000)}}`, {
    user: /at most 256/,
    service: /at most 256/,
  }),
  ...both('a cursor of 60 KB', AFTER, `{"a":${text(60_000)}}`, { user: /cursor/i, service: /cursor/i }),
  ...both('a time of 60 KB', FEED, `{"f":{"since":"${'('.repeat(60_000)}"}}`, {
    user: /invalid value/,
    service: /invalid value/,
  }),
  ...both('100 tags of a filter, 60 KB each', FEED, `{"f":{"types":${list(4, text(60_000))}}}`, {
    user: /at most 256/,
    service: /at most 256/,
  }),
  ...both('a number of 250,000 digits', SLICE, `{"r":${'9'.repeat(250_000)}}`, {
    user: /String cannot/,
    service: /String cannot/,
  }),
  ...both('escapes without end', SLICE, `{"r":"${'\\u0000'.repeat(10_000)}"}`, { user: /./, service: /./ }),
  ...both('2,000 variables that nobody declared', '{ __typename }', keys(2_000), {
    user: /not declared/,
    service: /not declared/,
  }),
  ...both('10,000 entries of filters', FEED, `{"f":{"types":${list(10_000, '"x"')}}}`, {
    user: /at most 100/,
    service: /at most 100/,
  }),
];

const names = (count: number, length: number): string =>
  times(count, (n) => `${'x'.repeat(length)}${String(n)}`, ' ');

const documents: readonly HostileRequest[] = (
  [
    [
      'a field 900 times',
      `{ viewer { ${'member { name } '.repeat(450)} } }`,
      /too many fields under one name/,
    ],
    [
      '1,800 plain fields that are one',
      `{ viewer { ${'memberId '.repeat(1_800)} } }`,
      /too many fields under one name/,
    ],
    ['900 unknown fields of 130 characters', `{ ${names(900, 130)} }`, /Cannot query field/],
    ['1,900 unknown fields', `{ ${names(1_900, 3)} }`, /Cannot query field/],
    [
      '400 unused variables',
      `query (${times(400, (n) => `$v${String(n)}: Int`, ' ')}) { __typename }`,
      /never used/,
    ],
    ['an enum of 120 KB as literal', `{ feed(order: ${'x'.repeat(120_000)}) { state } }`, /^Value "x/],
    [
      'a filter of 600 unknown keys as literal',
      `{ feed(filter: { ${times(600, (n) => `k${String(n)}: 1`, ' ')} }) { state } }`,
      /FeedFilter/,
    ],
    ['998 lists in each other', `{ node(id: ${nested(998)}) { id } }`, /./],
    [
      '100 aliases',
      `{ ${times(100, (n) => `a${String(n)}: slice(refId: "${String(n)}", first: 1) { edges { cursor } }`, ' ')} }`,
      null,
    ],
    ['1,000 aliases', `{ ${times(600, (n) => `a${String(n)}: __typename`, ' ')} }`, /aliases/],
    [
      'fragments that double',
      `{ ...F0 } ${times(60, (n) => `fragment F${String(n)} on Query { ...F${String(n + 1)} ...F${String(n + 1)} }`, ' ')} fragment F60 on Query { __typename }`,
      /objects, at most 50000/,
    ],
    ['fragments in fragments', `{ ${'... { '.repeat(600)} __typename ${'}'.repeat(600)} }`, null],
    ['200 directives', `{ __typename ${'@include(if: true) '.repeat(200)} }`, /directives/],
    ['200,000 characters', `{ __typename } #${'x'.repeat(200_000)}`, /characters/],
    ['2,000 tokens of punctuation', '{'.repeat(2_001), /tokens|Expected Name/],
    [
      'text of 100 KB as literal',
      `{ slice(refId: """${'\\n '.repeat(30_000)}""", first: 1) { edges { cursor } } }`,
      /./,
    ],
  ] satisfies [string, string, RegExp | null][]
).map(([name, query, says]) => ({ name, query, says, as: 'user' }));

const IMPORT_HOLD_MS = 80;

const oneAction = (n: number, more: string): string =>
  `{"descriptor":{"custom":{"verb":"v","objectType":"o","objectId":"i${String(n)}"${more}}}`;

/**
 * What a host application may send when it imports: as large as it gets, and good. Only services may; each step of the
 * work on so many entries – to parse, coerce, check and write them – has turns of its own; to coerce them is one.
 */
const imports: readonly HostileRequest[] = [
  {
    name: '500 actions with 16 KB of data',
    as: 'service',
    query: PUBLISH_MANY,
    variables: `{"i":[${times(500, (n) => `${oneAction(n, `,"data":{"x":${text(16_000)}}`)}}`)}]}`,
    says: null,
    holdMs: IMPORT_HOLD_MS,
  },
  {
    name: '500 actions with 80 mentions',
    as: 'service',
    query: PUBLISH_MANY,
    variables: `{"i":[${times(500, (n) => `${oneAction(n, '')},"mentions":[${times(80, (m) => `"member-${String(m)}"`)}]}`)}]}`,
    says: null,
    holdMs: IMPORT_HOLD_MS,
  },
  {
    name: '1,000 members',
    as: 'service',
    query: MEMBERS,
    variables: `{"m":[${times(1_000, (n) => `{"memberId":"new-${String(n)}","name":"N","teamId":"t9","departmentId":"d9"}`)}]}`,
    says: null,
    holdMs: IMPORT_HOLD_MS,
  },
];

const extensions: readonly HostileRequest[] = (['user', 'service'] as const).flatMap((as) => [
  {
    name: '100,000 levels of extensions',
    as,
    query: '{ __typename }',
    more: `"extensions":{"x":${nested(100_000)}}`,
    says: TOO_MUCH_JSON,
  },
  {
    name: 'an operation name of 200 KB',
    as,
    query: '{ __typename }',
    more: `"operationName":${text(200_000)}`,
    says: /./,
  },
]);

export const HOSTILE_REQUESTS: readonly HostileRequest[] = [
  ...variables,
  ...documents,
  ...extensions,
  ...imports,
];

/** As the body of a POST, or the payload of a `subscribe`. */
export function bodyOf({ query, variables, more }: HostileRequest): string {
  const rest = [
    variables === undefined ? '' : `,"variables":${variables}`,
    more === undefined ? '' : `,${more}`,
  ];
  return `{"query":${JSON.stringify(query)}${rest.join('')}}`;
}
