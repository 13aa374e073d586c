import { readFile } from 'node:fs/promises';
import {
  buildSchema as parseSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLNamedType,
} from 'graphql';
import { expect, test } from 'vitest';
import { buildSchema } from '../../../src/app/schema.ts';

/** What the contract promises and this version does not serve yet. Shrinks only. */
const STILL_TO_COME: readonly string[] = [];

type Input = GraphQLArgument | GraphQLInputField;

/** Everything a type promises, one line each: its coordinate, and what has to be the same there. */
function promises(type: GraphQLNamedType): Map<string, string> {
  const lines = new Map<string, string>([[type.name, type.constructor.name]]);
  const input = ({ type: of, defaultValue }: Input): string =>
    `${String(of)} = ${JSON.stringify(defaultValue)}`;
  if (isEnumType(type))
    for (const value of type.getValues()) lines.set(`${type.name}.${value.name}`, 'value');
  if (isUnionType(type)) for (const { name } of type.getTypes()) lines.set(`${type.name}.${name}`, 'member');
  if (isInputObjectType(type)) {
    lines.set(`${type.name}@oneOf`, String(type.isOneOf));
    for (const field of Object.values(type.getFields()))
      lines.set(`${type.name}.${field.name}`, input(field));
  }
  if (isObjectType(type) || isInterfaceType(type)) {
    for (const { name } of type.getInterfaces()) lines.set(`${type.name}&${name}`, 'implements');
    for (const field of Object.values(type.getFields())) {
      lines.set(`${type.name}.${field.name}`, String(field.type));
      for (const arg of field.args) lines.set(`${type.name}.${field.name}(${arg.name}:)`, input(arg));
    }
  }
  return lines;
}

async function compare(): Promise<{ missing: string[]; different: string[] }> {
  const file = new URL('../../support/contract.graphql', import.meta.url);
  const contract = parseSchema(await readFile(file, 'utf8'));
  const served = await buildSchema();
  const missing: string[] = [];
  const different: string[] = [];
  for (const type of Object.values(contract.getTypeMap())) {
    if (type.name.startsWith('__') || isSpecifiedScalarType(type)) continue;
    const counterpart = served.getType(type.name);
    if (counterpart === undefined) {
      missing.push(type.name);
      continue;
    }
    const there = promises(counterpart);
    for (const [coordinate, promise] of promises(type)) {
      const isOfMissingField = missing.some((name) => coordinate.startsWith(`${name}(`));
      if (!there.has(coordinate) && !isOfMissingField) missing.push(coordinate);
      else if (there.has(coordinate) && there.get(coordinate) !== promise)
        different.push(`${coordinate}: ${promise}, served ${there.get(coordinate) ?? ''}`);
    }
  }
  return { missing: missing.sort(), different };
}

test('serves everything in the contract, except what is listed as still to come', async () => {
  const { missing, different } = await compare();
  expect(different).toEqual([]);
  expect(missing).toEqual(STILL_TO_COME);
});

test('has no argument that the contract lacks', async () => {
  const file = new URL('../../support/contract.graphql', import.meta.url);
  const contract = parseSchema(await readFile(file, 'utf8'));
  const surprising: string[] = [];
  for (const type of Object.values((await buildSchema()).getTypeMap())) {
    const promised = contract.getType(type.name);
    if (promised === undefined) continue;
    const known = promises(promised);
    for (const [coordinate, promise] of promises(type)) {
      // What the contract knows nothing of may ask for whatever it needs.
      const isOfNewField = coordinate.endsWith(':)') && !known.has(coordinate.replace(/\(.*$/, ''));
      const isInput = (coordinate.endsWith(':)') && !isOfNewField) || isInputObjectType(type);
      if (isInput && !known.has(coordinate) && promise.endsWith('! = undefined')) surprising.push(coordinate);
    }
  }
  expect(surprising).toEqual([]);
});
