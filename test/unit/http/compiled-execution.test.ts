import {
  execute,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLOutputType,
} from 'graphql';
import { expect, test } from 'vitest';
import { CompiledExecution } from '../../../src/http/execution/compiled-execution.ts';
import { fc } from '../../support/fast-check.ts';
import { PROTOCOL_NAMES } from '../../support/protocol-names.ts';
import { repeats } from '../../support/seed.ts';

interface Source {
  readonly n: number;
}

const requiredInt = new GraphQLNonNull(GraphQLInt);
const field = (type: GraphQLOutputType, resolve: (source: Source) => unknown) => ({ type, resolve });
const isOdd = (n: number): boolean => n % 2 === 1;

function failWhen(fails: boolean, otherwise: unknown): unknown {
  if (fails) throw new Error('It failed');
  return otherwise;
}

const Thing: GraphQLInterfaceType = new GraphQLInterfaceType({
  name: 'Thing',
  fields: () => ({
    id: { type: new GraphQLNonNull(GraphQLID) },
    name: { type: GraphQLString },
    next: { type: Thing },
  }),
  resolveType: (source: Source) => (isOdd(source.n) ? 'Odd' : 'Even'),
});

const shared = {
  id: field(new GraphQLNonNull(GraphQLID), ({ n }) => n),
  name: field(GraphQLString, ({ n }) => Promise.resolve(`name ${String(n)}`)),
  next: field(Thing, ({ n }) => (n > 20 ? null : { n: n + 1 })),
};

const Odd = new GraphQLObjectType<Source>({
  name: 'Odd',
  interfaces: [Thing],
  fields: {
    ...shared,
    fails: field(GraphQLString, async ({ n }) => failWhen(n > 3, await Promise.resolve('fine'))),
    tags: field(new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString))), ({ n }) => [
      'a',
      String(n),
    ]),
  },
});

const Even = new GraphQLObjectType<Source>({
  name: 'Even',
  interfaces: [Thing],
  fields: {
    ...shared,
    sure: field(new GraphQLNonNull(GraphQLString), ({ n }) => failWhen(n > 4, 'fine')),
    number: field(GraphQLInt, ({ n }) => (n > 6 ? 'no number' : n)),
  },
});

const Only = new GraphQLInputObjectType({ name: 'Only', fields: { name: { type: GraphQLString } } });

const Query = new GraphQLObjectType<undefined, { readonly calls: string[] }>({
  name: 'Query',
  fields: {
    thing: {
      type: Thing,
      args: { n: { type: requiredInt }, only: { type: Only } },
      resolve: (_source, { n }, { calls }) => {
        calls.push(`thing ${String(n)}`);
        return { n: n as number };
      },
    },
    things: {
      type: new GraphQLNonNull(new GraphQLList(Thing)),
      args: { first: { type: requiredInt, defaultValue: 3 } },
      resolve: (_source, { first }) =>
        Promise.resolve(
          Array.from({ length: first as number }, (_, n) => (n === 2 ? null : { n: n + (first as number) })),
        ),
    },
    echo: {
      type: GraphQLString,
      args: { text: { type: GraphQLString } },
      resolve: (_source, { text }) => text as string,
    },
    fails: { type: GraphQLString, resolve: () => failWhen(true, null) },
  },
});

const Mutation = new GraphQLObjectType({
  name: 'Mutation',
  fields: { thing: { type: Thing, args: { n: { type: requiredInt } } } },
});
const schema = new GraphQLSchema({ query: Query, mutation: Mutation, types: [Odd, Even] });
const VARIABLES = '($yes: Boolean!, $no: Boolean!, $n: Int!, $text: String, $maybe: Int)';
const FRAGMENTS = 'fragment OnThing on Thing { id again: name } fragment OnOdd on Odd { ...OnThing fails }';
const variableValues = { yes: true, no: false, n: 5, text: null };

/** A document with one operation, every field under a name of its own. */
function documents(directives: readonly string[]): fc.Arbitrary<string> {
  const directive = fc.constantFrom('', ...directives);
  const leaf = (names: readonly string[]) =>
    fc.tuple(fc.constantFrom(...names), directive).map((parts) => parts.join(''));
  const thing = (depth: number): fc.Arbitrary<string> => {
    const next = (): fc.Arbitrary<string> =>
      depth === 0 ? leaf(['id']) : fc.tuple(directive, thing(depth - 1)).map(([d, set]) => `next${d} ${set}`);
    const on = (type: string, names: readonly string[]) =>
      fc
        .array(leaf(names), { minLength: 1, maxLength: 3 })
        .map((set) => `... on ${type} { ${set.join(' ')} }`);
    const selection = fc.oneof(
      leaf(['id', 'name', '__typename']),
      next(),
      on('Odd', ['id', 'fails', 'tags', '__typename']),
      on('Even', ['name', 'sure', 'number']),
      fc.tuple(fc.constantFrom('...OnThing', '...OnOdd'), directive).map((parts) => parts.join('')),
    );
    return fc.array(selection, { minLength: 1, maxLength: 4 }).map((set) => `{ ${set.join(' ')} }`);
  };
  const root = fc.oneof(
    fc
      .tuple(fc.constantFrom('thing(n: $n)', 'thing(n: 4)', 'thing(n: 1)'), thing(2))
      .map((parts) => parts.join(' ')),
    fc
      .tuple(fc.constantFrom('things', 'things(first: 6)', 'things(first: $maybe)'), thing(1))
      .map((parts) => parts.join(' ')),
    fc.constantFrom('echo', 'echo(text: $text)', 'echo(text: "x")', 'fails', '__typename'),
  );
  return fc
    .array(fc.tuple(root, directive), { minLength: 1, maxLength: 4 })
    .map((roots) => roots.map(([text], index) => `f${String(index)}: ${text}`))
    .map((roots) => `query Q${VARIABLES} { echo ${roots.join('\n')} }\n${FRAGMENTS}`);
}

function argsOf(document: DocumentNode, more: Partial<ExecutionArgs> = {}): ExecutionArgs {
  return { schema, document, variableValues, contextValue: { calls: [] }, ...more };
}

function eitherWay(args: ExecutionArgs): ExecutionResult | Promise<ExecutionResult> {
  return new CompiledExecution({ runsBefore: () => 0 }).execute(args, execute);
}

/** Makes sure that what it runs is compiled. */
function compiled(args: ExecutionArgs): ExecutionResult | Promise<ExecutionResult> {
  return new CompiledExecution({ runsBefore: () => 0 }).execute(args, () => {
    throw new Error('It was interpreted');
  });
}

/** Whatever is used; every document declares all variables and fragments. */
const RULES = specifiedRules.filter(({ name }) => !name.startsWith('NoUnused'));

async function expectSame(text: string, run: (args: ExecutionArgs) => unknown): Promise<void> {
  const document = parse(text);
  fc.pre(validate(schema, document, RULES).length === 0);
  const expected = await execute(argsOf(document));
  expect(sent((await run(argsOf(document))) as ExecutionResult)).toEqual(sent(expected));
}

/**
 * As a client is sent it, errors in the order of their paths. Below an object that became null because of one error
 * others may be reported or not, says GraphQL; those are left out.
 */
function sent({ data, errors = [] }: ExecutionResult): unknown {
  const kept = errors.filter(({ path }) => path === undefined || at(data, path.slice(0, -1)) !== null);
  return {
    data: JSON.stringify(data),
    hasErrors: errors.length > 0,
    errors: kept.map((error) => JSON.stringify(error)).sort(),
  };
}

/** The value at a path; null where something on the way is. */
function at(data: unknown, path: readonly (string | number)[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined || data === null) return data;
  return at((data as Record<string | number, unknown>)[key], rest);
}

test("gives the interpreter's answers, data and errors", async () => {
  await fc.assert(
    fc.asyncProperty(documents([]), (text) => expectSame(text, compiled)),
    { numRuns: repeats(300) },
  );
});

test.each(PROTOCOL_NAMES)('gives the same answers if everything is named %s', async (name) => {
  const text = `query ${name} { ${name}: thing(n: 1) { ${name}: next { ${name}: id } ${name}2: name ...${name} } }
    fragment ${name} on Thing { ${name}3: next { ${name}: name } }`;
  await expectSame(text, compiled);
});

test('leaves documents with directives to the interpreter', async () => {
  const execution = new CompiledExecution({ runsBefore: () => 0 });
  const text = documents([' @include(if: $yes)', ' @include(if: $no)', ' @skip(if: $yes)']);
  await fc.assert(
    fc.asyncProperty(text, (words) => expectSame(words, (args) => execution.execute(args, execute))),
    { numRuns: repeats(100) },
  );
});

/** Runs a query again and again; how often the interpreter was asked. */
async function interpretedOf(text: string, runs: number, more: Partial<ExecutionArgs> = {}): Promise<number> {
  const execution = new CompiledExecution({ runsBefore: (fields) => fields, maxFields: 10 });
  const document = parse(text);
  let interpreted = 0;
  for (let run = 0; run < runs; run++)
    await execution.execute(argsOf(document, more), (args) => {
      interpreted += 1;
      return execute(args);
    });
  return interpreted;
}

test('compiles an operation after as many runs as it has fields, each operation of a document separately', async () => {
  expect(await interpretedOf('{ thing(n: 1) { id } }', 5)).toBe(2);
  const both = 'query A { echo } query B { thing(n: 1) { ...F } } fragment F on Thing { id name }';
  expect(await interpretedOf(both, 5, { operationName: 'A' })).toBe(1);
  expect(await interpretedOf(both, 5, { operationName: 'B' })).toBe(3);
});

test.each([
  ['a mutation', 'mutation { thing(n: 1) { id } }'],
  ['what only asks for the schema', '{ __schema { types { name } } }'],
  ['a key that would set a prototype', '{ __proto__: echo }'],
  ['a document without the operation', 'query A { echo } query B { echo }'],
  [
    'a document that grows by its fragments',
    '{ thing(n: 1) { ...A ...A ...A } } fragment A on Thing { ...B ...B } fragment B on Thing { id name }',
  ],
])('never compiles %s', async (_what, text) => {
  expect(await interpretedOf(text, 5)).toBe(5);
});

test('reports invalid variables and arguments like the interpreter, and calls nothing', async () => {
  for (const [text, values] of [
    ['query ($n: Int!) { thing(n: $n) { id } }', { n: 'x' }],
    ['query ($n: Int!) { thing(n: $n) { id } }', {}],
    ['query ($only: Only) { thing(n: 1, only: $only) { id } }', { only: [{ name: 'x' }] }],
    ['query ($first: Int = 2) { things(first: $first) { id } echo }', { first: null }],
  ] as const) {
    const document = parse(text);
    const contextValue = { calls: [] };
    const more = { variableValues: values, contextValue };
    const expected = await execute(argsOf(document, more));
    const actual = await eitherWay(argsOf(document, more));
    expect(sent(actual)).toEqual(sent(expected));
    const causeOf = ({ errors }: ExecutionResult) => errors?.[0]?.originalError?.constructor;
    expect(causeOf(actual)).toBe(causeOf(expected));
    expect(contextValue.calls).toEqual([]);
  }
});
