import { createHash } from 'node:crypto';
import {
  getNamedType,
  isEnumType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLOutputType,
} from 'graphql';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { buildSchema } from '../../src/app/schema.ts';
import { ROLES } from '../../src/domain/viewer.ts';
import { startTestApp } from '../support/app.ts';
import { ask, upsert } from '../support/feed-api.ts';
import { fc } from '../support/fast-check.ts';
import { openMuchOfEverything, type MuchOfEverything } from '../support/much-of-everything.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { repeats, someOf } from '../support/seed.ts';

const CHECK_BYTES = 6;
const READER = { sub: 'reader', roles: ROLES } as const;

/** How to come to what has the list. A new place needs a line here. */
const PLACES: Readonly<Record<string, (list: string) => string>> = {
  Query: (list) => `{ ${list} }`,
  Viewer: (list) => `{ viewer { ${list} } }`,
  Ref: (list) => `{ ref(refId: "thing-0") { ${list} } }`,
  Action: (list) => `{ action(id: "${talkedAbout}") { ${list} } }`,
  ReaderList: (list) => `{ list(id: "${madeOfFollows}") { ${list} } }`,
};
/** Values of arguments that lists require, by name. */
const GIVEN: Readonly<Record<string, string>> = { refId: '"thing-0"' };

interface List {
  readonly name: string;
  /** It is a list that is there already, ordered or chosen in another way. */
  readonly isWay: boolean;
  readonly query: string;
}

interface Sample {
  readonly cursor: string;
  /** What its checksum covers besides its payload. */
  readonly name: string;
}

let world: MuchOfEverything;
let talkedAbout = '';
let madeOfFollows = '';
let lists: readonly List[];
const samples = new Map<string, Sample>();

beforeAll(async () => {
  const receivers = [
    {
      url: 'http://127.0.0.1:9/',
      secrets: [`whsec_${Buffer.alloc(32).toString('base64')}`],
      allowPrivateAddress: true,
    },
  ];
  const env = { WEBHOOKS: JSON.stringify(receivers) };
  world = await openMuchOfEverything(7, env);
  const { app, ids } = world;
  const [id] = ids['Interaction'] ?? [];
  const numbers = [1, 2, 3, 4, 5];
  const others = numbers.map((n) => `other-${String(n)}`);
  const gone = numbers.map((n) => `gone-${String(n)}`);
  await upsert(app, {
    members: [...gone, ...others].map((memberId) => ({ memberId, name: memberId })),
    pairs: others.map((followerId) => ({ followerId, refId: 'thing-0' })),
  });
  await ask(
    app,
    'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { action { id } } }',
    {
      inputs: numbers.map((n) => ({
        ...{ actorId: 'member-0', scope: 'PUBLIC' },
        refs: [{ id: 'thing-0', type: 'thing', label: 'Thing 0' }],
        descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: `again-${String(n)}` } },
      })),
    },
  );
  const [first, ...more] = ids['Action'] ?? [];
  const again = numbers.map(
    (n) =>
      `b${String(n)}: blockMember(memberId: "${others[n - 1] ?? ''}") { __typename } e${String(n)}: eraseMember(memberId: "${gone[n - 1] ?? ''}") h${String(n)}: hideFeedItem(actionId: "${more[n] ?? ''}") { actionId }`,
  );
  await ask(
    app,
    `mutation ($id: ID!, $action: ID!) { hideInteraction(id: $id) { id } hideFeedItem(actionId: $action) { actionId } blockMember(memberId: "member-2") { __typename } ${again.join(' ')} }`,
    { id, action: first },
    READER,
  );
  for (const name of ['hideAction', 'unhideAction', 'hideAction', 'unhideAction'])
    await ask(app, `mutation ($action: ID!) { ${name}(id: $action) { id } }`, { action: first }, READER);
  const { latestInteractions } = await ask<{
    latestInteractions: { edges: { node: { action: { id: string } } }[] };
  }>(app, '{ latestInteractions(first: 1) { edges { node { action { id } } } } }', {}, READER);
  talkedAbout = latestInteractions.edges[0]?.node.action.id ?? '';
  const followed = numbers.map((n) => `followed-${String(n)}`);
  const { createList } = await ask<{ createList: { id: string } }>(
    app,
    `mutation { ${followed.map((refId, n) => `f${String(n)}: follow(refId: "${refId}") { refId }`).join(' ')}
      createList(name: "Things") { id } }`,
    {},
    READER,
  );
  madeOfFollows = createList.id;
  await ask(
    app,
    'mutation ($id: ID!, $refIds: [String!]!) { addToList(id: $id, refIds: $refIds) { id } }',
    { id: madeOfFollows, refIds: followed },
    READER,
  );
  await ask(
    app,
    'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { action { id } } }',
    {
      inputs: numbers.map((n) => ({
        ...{ actorId: 'member-0', publishAt: new Date(Date.now() + n * 3_600_000).toISOString() },
        descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: `later-${String(n)}` } },
      })),
    },
  );
  // Until there are deliveries that nobody takes.
  await using _worker = await startTestApp({ api: false, database: app.database, env });
  await vi.waitFor(
    async () => {
      const { webhookDeliveries } = await ask<{ webhookDeliveries: FoundPage }>(
        app,
        '{ webhookDeliveries(first: 5) { edges { cursor } } }',
        {},
        READER,
      );
      expect(webhookDeliveries.edges.length).toBe(5);
    },
    { timeout: PATIENCE_MS },
  );
  const schema = await buildSchema();
  lists = Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !type.name.startsWith('__')
      ? Object.values(type.getFields())
          .filter(isPaged)
          .flatMap((field) => listsOf(type, field))
      : [],
  );
  await takeSamples();
  // Of ways that find nothing here, such as a state, the list itself has the cursors.
  lists = lists.filter(({ name, isWay }) => !isWay || samples.has(name));
});
afterAll(() => world[Symbol.asyncDispose]());

function isPaged(field: GraphQLField<unknown, unknown>): boolean {
  return field.args.some(({ name }) => name === 'after') && field.extensions['page'] !== undefined;
}

/** The list, and once more for each way to order or choose it, whose cursors may differ. */
function listsOf(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>): List[] {
  const place = PLACES[type.name];
  if (place === undefined) throw new Error(`Where is a ${type.name}?`);
  const required = field.args.filter(isRequiredArgument).map(({ name }) => {
    const value = GIVEN[name];
    if (value === undefined) throw new Error(`What is the argument ${name} of ${field.name}?`);
    return `${name}: ${value}`;
  });
  const ways = field.args.flatMap(({ name, type: of }) => {
    if (name === 'search') return [`search: "${field.name === 'refs' ? 'thing' : 'member'}"`];
    return isEnumType(of) ? of.getValues().map((value) => `${name}: ${value.name}`) : [];
  });
  return [null, ...ways].map((way) => {
    const page = 'first: $first, after: $after, last: $last, before: $before';
    const given = [...required, ...(way === null ? [] : [way]), page].join(', ');
    const list = `${field.name}(${given}) { edges { cursor node { ${shownOf(field)} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`;
    const name = `${type.name}.${field.name}${way === null ? '' : ` ${way}`}`;
    const variables = '$first: Int, $after: String, $last: Int, $before: String';
    return { name, isWay: way !== null, query: `query (${variables}) ${place(list)}` };
  });
}

/** What tells entries apart. */
const TELLING = ['id', 'memberId', 'refId', 'groupKey', 'name'];

function shownOf(field: GraphQLField<unknown, unknown>): string {
  const edges = fieldsOf(fieldsOf(field.type)['edges']?.type);
  const fields = fieldsOf(edges['node']?.type);
  const telling = TELLING.filter((name) => name in fields);
  return ['__typename', ...telling, ...('action' in fields ? ['action { id }'] : [])].join(' ');
}

function fieldsOf(type: unknown): Readonly<Record<string, GraphQLField<unknown, unknown>>> {
  const named = getNamedType(type as GraphQLOutputType);
  return isObjectType(named) ? named.getFields() : {};
}

interface PageArguments {
  readonly first?: number;
  readonly after?: string | null;
  readonly last?: number;
  readonly before?: string | null;
}

interface FoundPage {
  readonly edges: readonly { readonly cursor: string; readonly node: unknown }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

async function find({ name, query }: List, args: PageArguments): Promise<FoundPage> {
  const { data, errors } = await world.app.query(query, { ...args }, READER);
  expect([name, args, errors]).toEqual([name, args, []]);
  let found: unknown = data;
  while (!isPage(found)) [found] = Object.values(found as object) as unknown[];
  return found;
}

const isPage = (value: unknown): value is FoundPage => (value as Partial<FoundPage>).edges !== undefined;

interface Answer {
  readonly cursor: string | undefined;
  readonly codes: readonly unknown[];
}

async function page({ query }: List, after: string | null, isUp = false): Promise<Answer> {
  const args = isUp ? { last: 2, before: after } : { first: 2, after };
  const { data, errors } = await world.app.query(query, args, READER);
  const [, cursor] = /"(?:cursor|endCursor)":"([^"]+)"/.exec(JSON.stringify(data)) ?? [];
  return { cursor, codes: errors.map(({ extensions }) => extensions.code) };
}

function checkSum(list: string, payload: Uint8Array): Buffer {
  return createHash('sha256').update(list).update('\0').update(payload).digest().subarray(0, CHECK_BYTES);
}

/** A cursor that none but a list that knows its form can tell from its own. */
function sealed(list: string, payload: Uint8Array): string {
  return Buffer.concat([Buffer.from([1]), checkSum(list, payload), payload]).toString('base64url');
}

function payloadOf(cursor: string): Buffer {
  return Buffer.from(cursor, 'base64url').subarray(1 + CHECK_BYTES);
}

/** A cursor of each list, and the name that its checksum covers: that is among what is written into buffers meanwhile. */
async function takeSamples(): Promise<void> {
  const write = vi.spyOn(Buffer.prototype, 'write');
  try {
    for (const list of lists) {
      const { cursor, codes } = await page(list, null);
      expect([list.name, codes]).toEqual([list.name, []]);
      if (cursor === undefined) continue;
      // A page that is kept is not made again, so it may be that of the list before.
      const payload = payloadOf(cursor);
      const name = write.mock.calls
        .map(([text]) => String(text))
        .find((text) => sealed(text, payload) === cursor);
      if (name === undefined) throw new Error(`${list.name} has cursors of another kind`);
      samples.set(list.name, { cursor, name });
    }
  } finally {
    write.mockRestore();
  }
}

test('each list has entries here, so that it has cursors', () => {
  expect(lists.filter(({ name }) => !samples.has(name)).map(({ name }) => name)).toEqual([]);
  expect(lists.length).toBeGreaterThan(20);
});

const REFUSED = ['BAD_CURSOR'];

test('a cursor of another list is refused', async () => {
  const names = [...new Set([...samples.values()].map(({ name }) => name))];
  for (const list of lists) {
    const own = samples.get(list.name)?.name;
    for (const name of someOf(names, 5)) {
      const other = [...samples.values()].find((sample) => sample.name === name);
      if (name === own || other === undefined) continue;
      expect([list.name, name, (await page(list, other.cursor)).codes]).toEqual([list.name, name, REFUSED]);
    }
  }
  expectNoFailures();
});

const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
});
const NUMBERS = [
  0,
  -0,
  -1,
  0.5,
  1e308,
  5e-324,
  Number.NaN,
  Infinity,
  -Infinity,
  2 ** 53,
  8.64e15,
  253402300799999,
];

type Change = (cursor: string) => string;

/** What is no cursor of any list any more. */
const garbled: fc.Arbitrary<Change> = fc.oneof(
  anyText.map((text) => () => text),
  fc.nat().map((at) => (cursor: string) => cursor.slice(0, at % cursor.length)),
  anyText.map((text) => (cursor: string) => `${cursor}${text}!`),
  fc
    .tuple(fc.nat(), fc.constantFrom('A', 'Z', 'a', 'z', '0', '9', '-', '_', '=', '+', '/', ' '))
    .map(([at, by]) => (cursor: string) => {
      const place = at % cursor.length;
      return cursor[place] === by ? '' : cursor.slice(0, place) + by + cursor.slice(place + 1);
    }),
);

function withNumber(payload: Buffer, at: number, value: number): Buffer {
  const bytes = Buffer.from(payload);
  if (bytes.length >= 8) bytes.writeDoubleBE(value, at % (bytes.length - 7));
  return bytes;
}

/** Payloads under a right checksum: any bytes, other numbers, other bytes, other JSON. */
const forged: fc.Arbitrary<(payload: Buffer) => Uint8Array> = fc.oneof(
  fc.uint8Array({ maxLength: 64 }).map((bytes) => () => bytes),
  fc.tuple(fc.nat(), fc.constantFrom(...NUMBERS)).map(
    ([at, value]) =>
      (payload: Buffer) =>
        withNumber(payload, at, value),
  ),
  fc.tuple(fc.constantFrom(0, 0, 8, 9), fc.constantFrom(...NUMBERS)).map(
    ([at, value]) =>
      (payload: Buffer) =>
        withNumber(payload, at, value),
  ),
  fc.tuple(fc.nat(), fc.nat({ max: 255 })).map(([at, byte]) => (payload: Buffer) => {
    const bytes = Buffer.from(payload);
    if (bytes.length > 0) bytes[at % bytes.length] = byte;
    return bytes;
  }),
  fc.tuple(fc.nat(), fc.jsonValue({ maxDepth: 2 })).map(([at, value]) => (payload: Buffer) => {
    const row = jsonIn(payload);
    return Buffer.from(JSON.stringify(Array.isArray(row) ? row.with(at % row.length, value) : value));
  }),
);

function jsonIn(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch {
    return null;
  }
}

function expectNoFailures(): void {
  const bad = world.app.log.filter((line) =>
    ['error', 'fatal', 'warn'].includes((JSON.parse(line) as { level: string }).level),
  );
  expect(bad).toEqual([]);
}

const RUNS = { numRuns: repeats(100) };

test('what is no cursor is refused by each list', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...lists),
      fc.constantFrom(...samples.values()),
      garbled,
      fc.boolean(),
      async (list, { cursor }, change, isUp) => {
        const { codes } = await page(list, change(cursor), isUp);
        expect([list.name, isUp, codes]).toEqual([list.name, isUp, REFUSED]);
      },
    ),
    RUNS,
  );
  expectNoFailures();
});

test('a cursor that is forged with its right checksum is refused, or is one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...lists), forged, fc.boolean(), async (list, change, isUp) => {
      const sample = samples.get(list.name);
      if (sample === undefined) throw new Error(`${list.name} has no cursor`);
      const { codes } = await page(list, sealed(sample.name, change(payloadOf(sample.cursor))), isUp);
      if (codes.length > 0) expect([list.name, codes]).toEqual([list.name, REFUSED]);
    }),
    RUNS,
  );
  expectNoFailures();
});

/** Of lists that are longer, the first. */
const LONGEST = 40;

async function downwards(list: List, size: number): Promise<FoundPage['edges']> {
  const edges: FoundPage['edges'][number][] = [];
  for (let after: string | null = null; ;) {
    const { edges: next, pageInfo }: FoundPage = await find(list, { first: size, after });
    expect([list.name, pageInfo.hasPreviousPage]).toEqual([list.name, after !== null]);
    edges.push(...next);
    after = pageInfo.endCursor;
    if (!pageInfo.hasNextPage || edges.length >= LONGEST) return edges;
  }
}

const nodesOf = (edges: FoundPage['edges']): readonly unknown[] => edges.map(({ node }) => node);

test('each list is the same upwards, by any sizes of pages, from its end and from any place', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...lists),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 60, maxLength: 60 }),
      fc.nat(),
      async (list, sizes, at) => {
        const all = await downwards(list, sizes[0] ?? 1);
        const isCut = all.length >= LONGEST;
        const end = isCut ? LONGEST - 1 : at % (all.length + 1);
        let before: string | null = all[end]?.cursor ?? null;
        const expected = nodesOf(all.slice(0, end));
        let shown: readonly unknown[] = [];
        for (const last of sizes) {
          const { edges, pageInfo }: FoundPage = await find(list, { last, before });
          expect([list.name, pageInfo.hasNextPage]).toEqual([list.name, before !== null]);
          shown = [...nodesOf(edges), ...shown];
          before = pageInfo.startCursor;
          if (!pageInfo.hasPreviousPage) break;
          expect([list.name, edges.length]).toEqual([list.name, last]);
        }
        expect([list.name, shown]).toEqual([list.name, expected]);
      },
    ),
    { numRuns: repeats(50) },
  );
  expectNoFailures();
});

test.each([
  { first: 1, last: 1 },
  { first: 1, before: null, last: 1 },
  { last: 0 },
  { last: 1_001 },
  { last: -1 },
])('each list refuses %j', async (args) => {
  for (const { name, query } of lists) {
    const { errors } = await world.app.query(query, args, READER);
    expect([name, errors.map(({ extensions }) => extensions.code)]).toEqual([name, ['BAD_USER_INPUT']]);
  }
});
