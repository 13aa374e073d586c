import { printSchema } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildSchema } from '../../../../src/app/schema.ts';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { commandsOf } from '../../../../test/support/commands.ts';
import { composed, sdlOf } from '../../../../test/support/federation.ts';
import { publish, upsert } from '../../../../test/support/feed-api.ts';

const plain = printSchema(await buildSchema());

let app: TestApp;
let open: string;
let restricted: string;

beforeAll(async () => {
  app = await startTestApp({ monitorCommands: true, env: { FEDERATION: 'on', READ_CACHE: '0KiB' } });
  await upsert(app, {
    members: Array.from({ length: 100 }, (_, n) => ({
      memberId: `m${String(n)}`,
      name: `Name ${String(n)}`,
    })),
    refs: [{ id: 'berlin', type: 'site', label: 'Berlin' }],
    pairs: [],
  });
  const descriptor = { custom: { verb: 'visited', objectType: 'site', objectId: 'berlin' } };
  open = await publish(app, { actorId: 'm1', scope: 'PUBLIC', descriptor });
  restricted = await publish(app, { actorId: 'm1', scope: 'RESTRICTED', recipients: ['m2'], descriptor });
  await app.idle();
});
afterAll(async () => app[Symbol.asyncDispose]());

interface Entities {
  readonly _entities: readonly (Readonly<Record<string, unknown>> | null)[];
}

const ENTITIES = /* GraphQL */ `
  query ($representations: [_Any!]!) {
    _entities(representations: $representations) {
      __typename
      ... on Member {
        memberId
        name
      }
      ... on Ref {
        refId
        label
      }
      ... on Action {
        id
        scope
      }
    }
  }
`;

const entities = (representations: readonly unknown[], sub = 'reader') =>
  app.query<Entities>(ENTITIES, { representations }, { sub });

test('the schema that gateways get composes with a subgraph of the host', async () => {
  const sdl = await sdlOf(app);
  const supergraph = composed(sdl, { url: app.url, host: 'http://host/' });
  expect(supergraph).toContain('type Order');
  expect(sdl.match(/^type \w+ .*\n {2}@key.*$/gm)?.map((type) => type.replace(/\s+/g, ' '))).toEqual([
    'type Action implements Node @key(fields: "id")',
    'type Member implements Node @key(fields: "memberId")',
    'type Ref implements Node @key(fields: "refId")',
  ]);
});

test('only a program of the host gets that schema', async () => {
  const { errors } = await app.query('{ _service { sdl } }');
  expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
});

test('entities come in the order of their representations, and are what the reader may see', async () => {
  const asked = [
    { __typename: 'Ref', refId: 'berlin' },
    { __typename: 'Member', memberId: 'm7' },
    { __typename: 'Action', id: restricted },
    { __typename: 'Member', memberId: 'nobody' },
    { __typename: 'Action', id: open },
    { __typename: 'Member', memberId: 'm7' },
  ];
  const { data, errors } = await entities(asked);
  expect(errors).toEqual([]);
  expect(data?._entities).toEqual([
    { __typename: 'Ref', refId: 'berlin', label: 'Berlin' },
    { __typename: 'Member', memberId: 'm7', name: 'Name 7' },
    null,
    null,
    { __typename: 'Action', id: open, scope: 'PUBLIC' },
    { __typename: 'Member', memberId: 'm7', name: 'Name 7' },
  ]);
  const { data: seen } = await entities(asked, 'm2');
  expect(seen?._entities[2]).toEqual({ __typename: 'Action', id: restricted, scope: 'RESTRICTED' });
});

test('a hundred keys are one command', async () => {
  const representations = Array.from({ length: 100 }, (_, n) => ({
    __typename: 'Member',
    memberId: `m${String(n)}`,
  }));
  await entities([]);
  const commands = await commandsOf(app.app.database, async () => {
    const { data } = await entities(representations);
    expect(data?._entities.map((entity) => entity?.['name'])).toEqual(
      representations.map((_, n) => `Name ${String(n)}`),
    );
  });
  // Workers send commands of their own, and what is known of the reader is read when it is due.
  const keyed = commands.filter(({ collection }) => ['blocks', 'members'].includes(collection));
  expect(keyed.map(({ name, collection }) => `${name} ${collection}`).sort()).toEqual([
    'find blocks',
    'find members',
  ]);
});

test.each([
  ['no type', {}, '__typename'],
  ['an unknown type', { __typename: 'Feed', id: 'x' }, 'Action, Member, Ref'],
  ['a type of the root', { __typename: 'Query' }, '__typename'],
  ['no key', { __typename: 'Member', id: 'TWVtYmVyOm03' }, 'memberId'],
  ['a key that is no text', { __typename: 'Member', memberId: { $ne: null } }, 'memberId'],
  ['an id of something else', { __typename: 'Action', id: 'TWVtYmVyOm03' }, 'action'],
  ['no object', 5, '__typename'],
  ['a list', [[]], '__typename'],
  ['an empty key', { __typename: 'Ref', refId: '' }, ''],
  ['a name of the prototype', { __typename: 'constructor' }, '__typename'],
])('a representation with %s is refused, and the others are answered', async (_what, bad, says) => {
  const { data, errors } = await entities([bad, { __typename: 'Member', memberId: 'm7' }]);
  expect(data?._entities).toEqual([null, { __typename: 'Member', memberId: 'm7', name: 'Name 7' }]);
  expect(errors).toMatchObject([
    { message: expect.stringContaining(says) as string, extensions: { code: 'BAD_USER_INPUT' } },
  ]);
});

test('more representations than a request may have are refused before any is read', async () => {
  const many = Array.from({ length: 1_001 }, () => ({ __typename: 'Member', memberId: 'm1' }));
  const { data, errors } = await entities(many);
  expect(data).toBeNull();
  expect(errors[0]?.message).toContain('at most 1000 entries');
});

test('inputs of which one is needed are checked, though composition does not know them', async () => {
  const { errors } = await app.query(
    'mutation ($input: RemoveInteractionInput!) { removeInteraction(input: $input) { __typename } }',
    { input: {} },
  );
  expect(errors[0]?.message).toMatch(/RemoveInteractionInput/);
});

test('a schema of this process that is no subgraph is as it would be otherwise', async () => {
  expect(printSchema(await buildSchema())).toBe(plain);
});
