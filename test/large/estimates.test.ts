import {
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  parse,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { buildSchema } from '../../src/app/schema.ts';
import { operationCost } from '../../src/graphql/limits/cost.ts';
import { findOperation } from '../../src/graphql/limits/document-limits.ts';
import type { Role } from '../../src/domain/viewer.ts';
import { DEFAULT_LIMITS } from '../../src/http/limits/limits.ts';
import { openMuchOfEverything, type MuchOfEverything } from '../support/much-of-everything.ts';
import { costsOf, type OperationCosts } from '../support/operation-costs.ts';

// Every field of the schema, as often as one operation may ask for it, beside its estimate: at little data and at a hundred
// times as much. Counts are compared, never times.

/** Enough that the 101 events of a notification that a page reads are not all. */
const LARGE = 200;
const SMALL = 2;
const ALIASES = DEFAULT_LIMITS.maxAliases;

/** Commands that an operation may take whatever its estimate, and for each unit of it. */
const COMMANDS = { base: 30, each: 0.1 };
/** Documents from the database, which are also read for what is left out of an answer. */
const DOCUMENTS = { base: 1_000, each: 10 };
/** Of 50 connections of a process. */
const MOST_AT_ONCE = 12;

type Field = GraphQLField<unknown, unknown>;

/** For arguments that are required, by name. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  memberId: '"member-0"',
  refId: '"thing-0"',
  kind: 'COMMENT',
};

/** What nobody can be asked for here, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'Query.node': 'has a test of its own',
  'Query.nodes': 'has a test of its own',
  'Query.memberExport': 'all of a member in one answer, for services: its size is that of its answer',
};

let schema: GraphQLSchema;
let small: MuchOfEverything;
let large: MuchOfEverything;
const rows: string[] = [];
beforeAll(async () => {
  schema = await buildSchema();
  small = await openMuchOfEverything(SMALL);
  large = await openMuchOfEverything(LARGE);
});
afterAll(async () => {
  console.log(['estimate commands at once documents KiB CPU ms', ...rows].join('\n'));
  await small[Symbol.asyncDispose]();
  await large[Symbol.asyncDispose]();
});

type Variables = Readonly<Record<string, unknown>>;

const estimate = (query: string, variables: Variables = {}): number => {
  const operation = findOperation(parse(query), null);
  if (operation === null) throw new Error('There is no operation');
  return operationCost('most', schema, operation, variables);
};

interface Asked {
  readonly query: string;
  readonly variables?: Variables;
}

interface Measured extends OperationCosts {
  readonly redis: number;
  readonly isRefused: boolean;
}

async function measured(
  { app }: MuchOfEverything,
  { query, variables }: Asked,
  roles: readonly Role[],
): Promise<Measured> {
  const sent = vi.spyOn(Redis.prototype, 'sendCommand');
  let codes: readonly string[] = [];
  try {
    const costs = await costsOf(app.app.database, async () => {
      const { errors } = await app.query(query, variables, { sub: 'reader', roles });
      codes = errors.map(({ extensions }) => extensions.code);
    });
    return { ...costs, redis: sent.mock.calls.length, isRefused: codes.includes('FORBIDDEN') };
  } finally {
    sent.mockRestore();
  }
}

async function costs(world: MuchOfEverything, asked: Asked): Promise<Measured> {
  const asUser = await measured(world, asked, ['user']);
  return asUser.isRefused ? measured(world, asked, ['user', 'admin', 'service']) : asUser;
}

/** What the field costs at much data, as faults. */
async function faultsOf(name: string, asked: (world: MuchOfEverything) => Asked): Promise<string[]> {
  const { query, variables } = asked(large);
  const estimated = estimate(query, variables);
  if (estimated > DEFAULT_LIMITS.maxCost) return [];
  const [little, much] = [await costs(small, asked(small)), await costs(large, asked(large))];
  const { commands, redis, atOnce, documents, bytes } = much;
  const show = (one: Measured): string =>
    [
      one.commands + one.redis,
      one.atOnce,
      one.documents,
      Math.ceil(one.bytes / 1_024),
      Math.round(one.cpuMs),
    ].join(' ');
  rows.push(`${name}: ${String(estimated)}; ${show(little)}; ${show(much)}`);
  const faults: string[] = [];
  const isMore = (what: number, { base, each }: typeof COMMANDS): boolean => what > base + each * estimated;
  if (isMore(commands + redis, COMMANDS))
    faults.push(`${String(commands)} commands, and ${String(redis)} to Redis`);
  if (isMore(documents, DOCUMENTS))
    faults.push(`${String(documents)} documents, ${String(Math.ceil(bytes / 1_024))} KiB`);
  if (atOnce > MOST_AT_ONCE) faults.push(`${String(atOnce)} commands at once`);
  return faults.map((fault) => `${name}, estimated at ${String(estimated)}: ${fault}`);
}

const aliased = (count: number, call: string): string =>
  Array.from({ length: count }, (_, n) => `a${String(n)}: ${call}`).join(' ');

/** As many aliases as the limits allow. */
function most(queryOf: (count: number) => string): string {
  for (let count = ALIASES; count > 1; count = Math.floor(count * 0.8))
    if (estimate(queryOf(count)) <= DEFAULT_LIMITS.maxCost) return queryOf(count);
  return queryOf(1);
}

const isNode = (type: GraphQLObjectType): boolean => type.getInterfaces().some(({ name }) => name === 'Node');

function argumentsOf({ args, type }: Field, ids: MuchOfEverything['ids']): string | null {
  const given = args.flatMap((arg) => {
    if (arg.name === 'first') return ['first: 3'];
    if (arg.name === 'actionId' || arg.name === 'id') {
      const [id = ids['Action']?.[0] ?? ''] = ids[getNamedType(type).name] ?? [];
      return [`${arg.name}: "${id}"`];
    }
    const value = ARGUMENTS[arg.name];
    if (value !== undefined && isRequiredArgument(arg)) return [`${arg.name}: ${value}`];
    return isRequiredArgument(arg) ? [null] : [];
  });
  if (given.includes(null)) return null;
  return given.length === 0 ? '' : `(${given.join(', ')})`;
}

/** How to get to each type: from the top, through as few fields as possible. */
function ways(ids: MuchOfEverything['ids']): ReadonlyMap<string, (inner: string) => string> {
  const query = schema.getQueryType();
  if (query == null) throw new Error('There is no query type');
  const found = new Map<string, (inner: string) => string>([[query.name, (inner) => `{ ${inner} }`]]);
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  // By id, an object is the cheapest.
  for (const type of types)
    if (isNode(type))
      found.set(
        type.name,
        (inner) => `{ node(id: "${ids[type.name]?.at(-1) ?? ''}") { ... on ${type.name} { ${inner} } } }`,
      );
  const open = [...found.keys()];
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    const type = schema.getType(name);
    const way = found.get(name);
    if (!isObjectType(type) || way === undefined) continue;
    for (const field of Object.values(type.getFields()) as Field[]) {
      const inner = getNamedType(field.type);
      if (!isCompositeType(inner) || LEFT_OUT[`${name}.${field.name}`] !== undefined) continue;
      const given = argumentsOf(field, ids);
      if (given === null) continue;
      const concrete = isObjectType(inner) ? [inner] : schema.getPossibleTypes(inner);
      for (const one of concrete) {
        if (found.has(one.name)) continue;
        const on = isObjectType(inner) ? '' : `... on ${one.name} `;
        found.set(one.name, (below) =>
          way(`${field.name}${given} { ${on === '' ? below : `${on}{ ${below} }`} }`),
        );
        open.push(one.name);
      }
    }
  }
  return found;
}

test('every field costs what is estimated, as often as an operation may ask for it', async () => {
  const faults: string[] = [];
  const unreached: string[] = [];
  const all = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLObjectType =>
      isObjectType(type) &&
      !type.name.startsWith('__') &&
      type !== schema.getMutationType() &&
      type !== schema.getSubscriptionType(),
  );
  for (const type of all) {
    // Only subscriptions, or what mutations answer, have values of the others.
    if (!ways(large.ids).has(type.name)) continue;
    for (const field of Object.values(type.getFields()) as Field[]) {
      const name = `${type.name}.${field.name}`;
      // Read off what is there already.
      if (LEFT_OUT[name] !== undefined || field.extensions['isPlain'] === true) continue;
      const way = (world: MuchOfEverything) => ways(world.ids).get(type.name);
      if (way(large) === undefined || argumentsOf(field, large.ids) === null) {
        unreached.push(name);
        continue;
      }
      const leaf = isCompositeType(getNamedType(field.type)) ? ' { __typename }' : '';
      const query = (world: MuchOfEverything): string => {
        const call = `${field.name}${argumentsOf(field, world.ids)?.replace('first: 3', 'first: 20') ?? ''}${leaf}`;
        return most((count) => way(world)?.(aliased(count, call)) ?? '');
      };
      faults.push(...(await faultsOf(name, (world) => ({ query: query(world) }))));
    }
  }
  expect(faults).toEqual([]);
  expect(unreached).toEqual([]);
});

test('objects by id cost what is estimated, equal ones and different ones', async () => {
  const faults: string[] = [];
  const nodes = schema.getType('Node');
  if (!isInterfaceType(nodes)) throw new Error('There is no Node');
  for (const { name } of schema.getPossibleTypes(nodes)) {
    const of = ({ ids }: MuchOfEverything): readonly string[] => ids[name] ?? [];
    expect([name, of(large).length]).toEqual([name, expect.toSatisfy((length: number) => length > 0)]);
    const many = (ids: readonly string[]): Asked => ({
      query: `query ($ids: [ID!]!) { ${aliased(ALIASES, 'nodes(ids: $ids) { id }')} }`,
      variables: { ids },
    });
    const single = (ids: readonly string[]): Asked => ({
      query: `{ ${ids.map((id, n) => `a${String(n)}: node(id: "${id}") { id }`).join(' ')} }`,
    });
    const different = (ids: readonly string[]): string[] =>
      Array.from({ length: ALIASES }, (_, n) => ids[n % ids.length] ?? '');
    const equal = (ids: readonly string[]): string[] => Array.from({ length: ALIASES }, () => ids[0] ?? '');
    const asked: Readonly<Record<string, (ids: readonly string[]) => Asked>> = {
      'nodes, different': (ids) => many(different(ids)),
      'nodes, equal': (ids) => many(equal(ids)),
      'node, different': (ids) => single(different(ids)),
      'node, equal': (ids) => single(equal(ids)),
    };
    for (const [how, ask] of Object.entries(asked))
      faults.push(...(await faultsOf(`${name} by ${how}`, (world) => ask(of(world)))));
  }
  expect(faults).toEqual([]);
});
