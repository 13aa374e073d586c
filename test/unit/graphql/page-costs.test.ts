import {
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  parse,
  type GraphQLField,
  type GraphQLNamedType,
} from 'graphql';
import { expect, test } from 'vitest';
import { buildSchema } from '../../../src/app/schema.ts';
import { operationCost, type PageSize } from '../../../src/graphql/limits/cost.ts';
import { findOperation } from '../../../src/graphql/limits/document-limits.ts';
import { DEFAULT_LIMITS } from '../../../src/http/limits/limits.ts';

const schema = await buildSchema();

type Field = GraphQLField<unknown, unknown>;

function fieldsOf(type: GraphQLNamedType): readonly Field[] {
  return 'getFields' in type ? (Object.values(type.getFields()) as Field[]) : [];
}

function fieldOf(type: GraphQLNamedType, name: string): Field {
  const found = fieldsOf(type).find((field) => field.name === name);
  if (found === undefined) throw new Error(`${type.name} has no ${name}`);
  return found;
}

/** People and things are shown by their names and pictures. */
const SHOWN: Readonly<Record<string, string>> = {
  Member: '{ memberId name imageUrl }',
  Ref: '{ refId type label imageUrl }',
};

/**
 * What a list usually shows of an entry: its plain fields, and those of the objects and lists in it. Free JSON, totals and
 * pages in pages are asked for where they are needed.
 */
function usualSelection(type: GraphQLNamedType, depth: number): string {
  const own = (of: GraphQLNamedType): string[] =>
    fieldsOf(of).flatMap((field) => {
      const named = getNamedType(field.type);
      const isNeeded = field.args.some(isRequiredArgument) || field.extensions['page'] !== undefined;
      if (isNeeded || named.name === 'JSON' || named.name === 'Count' || named.name === 'UnreadCount')
        return [];
      if (isLeafType(named)) return [field.name];
      return depth === 0 ? [] : [`${field.name} ${SHOWN[named.name] ?? usualSelection(named, depth - 1)}`];
    });
  const typed = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  const parts = typed.map((one) => `... on ${one.name} ${aliased(one)}`);
  return `{ ${['__typename', ...own(type), ...parts].join(' ')} }`;
}

/** Fields of several types may have one name and different types. */
function aliased(type: GraphQLNamedType): string {
  const plain = fieldsOf(type).filter(
    ({ type: of, args }) =>
      isLeafType(getNamedType(of)) && getNamedType(of).name !== 'JSON' && !args.some(isRequiredArgument),
  );
  return `{ __typename ${plain.map(({ name }) => `${type.name}_${name}: ${name}`).join(' ')} }`;
}

/** Each list that is read in pages, and the type of its entries. */
const pages = Object.values(schema.getTypeMap()).flatMap((type) =>
  isObjectType(type) && !type.name.startsWith('__')
    ? fieldsOf(type).flatMap((field) => {
        const page = field.extensions['page'] as PageSize | undefined;
        return page === undefined ? [] : [{ name: `${type.name}.${field.name}`, type, field, page }];
      })
    : [],
);

test('the largest page of each list can be had with what a list usually shows', () => {
  const costs = pages.map(({ name, type, field, page }) => {
    const edge = getNamedType(fieldOf(getNamedType(field.type), 'edges').type);
    const node = getNamedType(fieldOf(edge, 'node').type);
    const given = field.args.flatMap((argument) => {
      if (argument.name === [page.argument].flat()[0]) return [`${argument.name}: ${String(page.max)}`];
      return isRequiredArgument(argument) ? [`${argument.name}: "id"`] : [];
    });
    const list = `{ ${field.name}(${given.join(', ')}) { pageInfo { endCursor } edges { cursor node ${usualSelection(node, 1)} } } }`;
    const text = type === schema.getQueryType() ? list : `{ node(id: "id") { ... on ${type.name} ${list} } }`;
    const operation = findOperation(parse(text), null);
    if (operation === null) throw new Error(`No operation: ${text}`);
    return [name, operationCost('most', schema, operation, {})] as const;
  });
  expect(costs.filter(([, cost]) => cost > DEFAULT_LIMITS.maxCost)).toEqual([]);
});
