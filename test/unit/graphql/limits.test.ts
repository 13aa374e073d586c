import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  parse,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { operationCost } from '../../../src/graphql/limits/cost.ts';
import { mostRefs } from '../../../src/graphql/limits/lengths.ts';
import {
  documentFault,
  findOperation,
  isIntrospection,
  type Operation,
} from '../../../src/graphql/limits/document-limits.ts';
import { buildSchema } from '../../../src/app/schema.ts';

const schema = await buildSchema();

function operation(document: string, name?: string): Operation {
  const found = findOperation(parse(document), name);
  if (found === null) throw new Error('No such operation');
  return found;
}

const cost = (document: string, variables = {}): number =>
  operationCost('usual', schema, operation(document), variables);

describe('the cost of an operation', () => {
  test.each([
    ['{ __typename }', 0],
    ['{ viewer { memberId } }', 1],
    ['{ viewer { memberId lastRead } }', 1],
    ['{ viewer { member { name } unreadCount { count } } }', 1 + 1 + 100],
    ['{ feed(first: 1) { total { count } unread { count } } }', 1 + 1_000 + 100],
    ['{ feedGroups(first: 1) { unread { count isExact } } }', 1 + 100],
    ['{ feed { state } }', 1 + 25],
    ['{ feed(first: 3, order: TOP) { edges { cursor } } }', 100 + 1 + 3],
    ['{ feed(first: 3, order: RECENT) { edges { cursor } } }', 1 + 3],
    ['{ viewer { firstUnread { cursor item { id } } } }', 1 + 25 + 1 + 1],
    ['{ feed(first: 3) { edges { cursor } } }', 1 + 3],
    ['{ feed(first: 3) { pageInfo { endCursor } edges { node { id } } } }', 1 + 1 + 3 * 2],
    ['{ feed { edges { cursor } } }', 1 + 25],
    // A page is read, whatever is shown of it.
    ['{ feed(first: 3) { pageInfo { endCursor } } }', 1 + 3],
    ['{ feed(first: 1000) { edges { cursor } } }', 1 + 100],
    ['{ feed(first: -5) { edges { cursor } } }', 1 + 1],
    ['{ feed(first: 2) { edges { node { action { refs { label } } } } } }', 1 + 2 * (1 + 1 + 1 + 4)],
    ['{ nodes(ids: ["a", "b"]) { id } }', 2],
    ['{ nodes(ids: "a") { id } }', 1],
    ['{ a: viewer { memberId } b: viewer { memberId } }', 2],
    ['{ ...F ...F } fragment F on Query { viewer { memberId } }', 2],
    ['{ feed(first: 5) { ...F } } fragment F on FeedConnection { edges { cursor } }', 1 + 5],
    ['{ nodes(ids: ["a"]) { ... on Action { actor { name } } ... on NewsfeedItem { action { id } } } }', 2],
  ])('%s costs %i', (document, expected) => {
    expect(cost(document)).toBe(expected);
  });

  test.each([
    ['{ feed(first: 2) { edges { node { action { refs { label } } } } } }', 1 + 2 * (1 + 1 + 1 + mostRefs())],
    ['{ viewer { mutes { until } } }', 1 + 1_000],
    [`{ viewer { ${Array.from({ length: 20 }, (_, n) => `a${String(n)}: memberId`).join(' ')} } }`, 1 + 2],
    ['{ action(id: "a") { descriptor { ... on CustomDescriptor { data a: data } } } }', 1 + 1 + 2 * 16],
    ['{ action(id: "a") { descriptor { ...F } } } fragment F on CustomDescriptor { data a: data }', 34],
    ['{ ref(refId: "a") { data url } }', 1 + 4 + 2],
    ['{ memberExport(memberId: "a") }', 30_000 + 4_096],
  ])('%s costs at most %i', (document, expected) => {
    expect(operationCost('most', schema, operation(document), {})).toBe(expected);
  });

  test('covers every list and all free JSON', () => {
    const unknown = Object.values(schema.getTypeMap()).flatMap((type) => {
      if (!(isObjectType(type) || isInterfaceType(type)) || type.name.startsWith('__')) return [];
      return Object.values(type.getFields()).flatMap((field) => {
        const { size, maxBytes } = field.extensions;
        const named = getNamedType(field.type);
        const isList = isListType(getNullableType(field.type));
        const needed = isList && isCompositeType(named) ? size : maxBytes;
        return (isList || named.name === 'JSON') && needed === undefined
          ? [`${type.name}.${field.name}`]
          : [];
      });
    });
    expect(unknown).toEqual([]);
  });

  test('depends on variables, their defaults, and lists in them', () => {
    const feed = 'query ($n: Int = 7) { feed(first: $n) { edges { cursor } } }';
    expect(cost(feed)).toBe(8);
    expect(cost(feed, { n: 2 })).toBe(3);
    expect(cost(feed, { n: null })).toBe(26);
    const top = 'query ($order: FeedOrder! = TOP) { feed(first: 1, order: $order) { state } }';
    expect(cost(top)).toBe(102);
    expect(cost(top, { order: 'RECENT' })).toBe(2);
    expect(cost('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: ['a', 'b', 'c'] })).toBe(3);
    expect(cost('query ($ids: [ID!] = ["a", "b"]) { nodes(ids: $ids) { id } }')).toBe(2);
  });
});

describe('the limits of a document', () => {
  const limits = { maxDepth: 3, maxAliases: 2, maxDirectives: 1 };
  test.each([
    ['{ a { b { c } } }', null],
    ['{ a { b { c { d } } } }', 'The document is 4 fields deep, at most 3 are allowed'],
    [
      '{ ...F } fragment F on Query { a { ... on X { b { c { d } } } } }',
      'The document is 4 fields deep, at most 3 are allowed',
    ],
    ['{ a { ...F } } fragment F on X { b { ...F } }', null],
    ['query A { a } query B { a { b { c { d } } } }', 'The document is 4 fields deep, at most 3 are allowed'],
    ['{ __schema { types { fields { type { name } } } } }', null],
    ['{ a: x b: x }', null],
    ['{ a: x b: x ...F } fragment F on Query { c: x }', 'The document has 3 aliases, at most 2 are allowed'],
    ['{ a @include(if: true) @skip(if: false) }', 'The document has 2 directives, at most 1 are allowed'],
  ])('%s', (document, fault) => {
    expect(documentFault(parse(document), limits)).toBe(fault);
  });
});

describe('the operation of a document', () => {
  test('is found by name, or if it is the only one', () => {
    expect(operation('query A { a } query B { b }', 'B').definition.name?.value).toBe('B');
    expect(operation('{ a }').definition.name).toBeUndefined();
    for (const name of [undefined, null, 'C', ''])
      expect(findOperation(parse('query A { a } query B { b }'), name)).toBeNull();
    expect(findOperation(parse('query A { a } query A { b }'), 'A')).toBeNull();
    expect(findOperation(parse('fragment F on Query { a }'), null)).toBeNull();
  });

  test.each([
    ['{ __typename }', true],
    ['{ __schema { queryType { name } } __type(name: "A") { name } }', true],
    ['{ ...F ... on Query { __typename } } fragment F on Query { __typename }', true],
    ['{ __typename a }', false],
    ['{ __typename: viewer }', false],
    ['{ ...F } fragment F on Query { ... { a } }', false],
    ['{ ...Missing }', false],
    ['mutation { __typename }', false],
    ['subscription { __typename }', false],
  ])('%s is only introspection: %s', (document, expected) => {
    expect(isIntrospection(operation(document))).toBe(expected);
  });

  test('each fragment is looked at once, however often others spread it', () => {
    const spreads = Array.from({ length: 100 }, (_, n) => {
      const next = `...F${String(n + 1)}`;
      return `fragment F${String(n)} on Query { ${next} ${next} }`;
    });
    const doubling = (field: string): string =>
      `{ ...F0 } ${spreads.join(' ')} fragment F100 on Query { ${field} }`;
    expect(isIntrospection(operation(doubling('__typename')))).toBe(true);
    expect(isIntrospection(operation(doubling('a')))).toBe(false);
  });
});
