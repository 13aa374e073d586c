import { readFile } from 'node:fs/promises';
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { expect, test } from 'vitest';
import { SCHEMA_FILE } from '../../../schema/print.ts';
import { printedSchema } from '../../../src/app/in-process.ts';
import { buildSchema } from '../../../src/app/schema.ts';

test('schema/schema.graphql is the served schema', async () => {
  expect(await readFile(SCHEMA_FILE, 'utf8')).toBe(await printedSchema());
});

test('describes every type, field, argument and value', async () => {
  const bare: string[] = [];
  interface Described {
    readonly name: string;
    readonly description?: string | null | undefined;
  }
  function check(parent: string, described: readonly Described[]): void {
    for (const { name, description } of described)
      if (description == null || description === '') bare.push(`${parent}${name}`);
  }
  for (const type of Object.values((await buildSchema()).getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue;
    check('', [type]);
    if (isEnumType(type)) check(`${type.name}.`, type.getValues());
    if (isInputObjectType(type)) check(`${type.name}.`, Object.values(type.getFields()));
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    const fields = Object.values(type.getFields());
    check(`${type.name}.`, fields);
    for (const field of fields) check(`${type.name}.${field.name}:`, field.args);
  }
  expect(bare).toEqual([]);
});
