import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GraphQLInputObjectType, GraphQLObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { compileDescriptor } from '../../../src/descriptors/compile.ts';
import { defineDescriptor } from '../../../src/descriptors/declare.ts';
import type { DescriptorField, DescriptorType } from '../../../src/descriptors/define.ts';
import { field } from '../../../src/descriptors/field.ts';
import { namedIdsOf, namePathsOf } from '../../../src/descriptors/names.ts';
import {
  descriptorOfInput,
  descriptorOfType,
  descriptorTypes,
  servedLocales,
} from '../../../src/descriptors/registry.ts';
import { buildSchema } from '../../../src/app/schema.ts';
import { allIndexes } from '../../../src/app/collections.ts';
import { sampleDescriptor } from '../../support/descriptor-samples.ts';
import { sentenceOf } from '../../support/sentence.ts';

const PACKS = fileURLToPath(new URL('../../../src/descriptors/packs/', import.meta.url));

const schema = await buildSchema();
const fieldsOf = ({ fields }: DescriptorType): [string, DescriptorField][] => Object.entries(fields);

describe.each(descriptorTypes().map((descriptor) => [descriptor.type, descriptor] as const))(
  '%s',
  (type, descriptor) => {
    test('is found by its type and by the property of its input', () => {
      expect(descriptorOfType(type)).toBe(descriptor);
      expect(descriptorOfInput(descriptor.inputName)).toBe(descriptor);
      expect(descriptor.inputName).toBe(type.charAt(0).toLowerCase() + type.slice(1));
    });

    test('accepts exactly the declared fields, with and without optional ones', () => {
      const values = sampleDescriptor(descriptor);
      expect(descriptor.schema.parse({ ...values, tags: ['b', 'b'] })).toEqual({ ...values, tags: ['b'] });
      expect(descriptor.schema.safeParse({ ...values, other: 1 }).success).toBe(false);
      for (const [name, field] of fieldsOf(descriptor)) {
        const { [name]: _left, ...rest } = values;
        expect(descriptor.schema.safeParse(rest).success).toBe(field.isOptional);
      }
    });

    test('is an object type with these fields in the API', () => {
      const object = schema.getType(`${type}Descriptor`);
      if (!(object instanceof GraphQLObjectType)) throw new Error('It has no object type');
      expect(object.getInterfaces().map(({ name }) => name)).toEqual(['ActionDescriptor']);
      expect(object.description).toBe(descriptor.description);
      const served = Object.entries(object.getFields()).map(([name, field]) => [name, String(field.type)]);
      const declared = fieldsOf(descriptor).map(([name, field]) => {
        if (field.kind === 'json') return [name, 'JSON!'];
        if (field.kind === 'media') return [name, '[Media!]'];
        return [name, `${field.kind === 'number' ? 'Float' : 'String'}${field.isOptional ? '' : '!'}`];
      });
      const common = [
        ['type', 'String!'],
        ['summary', 'String!'],
        ['summaryParts', '[SummaryPart!]!'],
        ['tags', '[String!]!'],
      ];
      expect(served.sort()).toEqual([...common, ...declared].sort());
    });

    test('is an input with the same fields', () => {
      const oneOf = schema.getType('DescriptorInput');
      if (!(oneOf instanceof GraphQLInputObjectType)) throw new Error('There is no input for descriptors');
      const field = oneOf.getFields()[descriptor.inputName];
      if (!(field?.type instanceof GraphQLInputObjectType)) throw new Error('It has no input type');
      expect(Object.keys(field.type.getFields()).sort()).toEqual(
        [...fieldsOf(descriptor).map(([name]) => name), 'tags'].sort(),
      );
    });

    test('is updated by renames in every field with a name', () => {
      const paths = namePathsOf().filter(({ types }) => types.includes(type));
      const names = fieldsOf(descriptor).filter(([, field]) => field.kind === 'nameOf');
      expect(paths.map((path) => path.nameField).sort()).toEqual(names.map(([name]) => name).sort());
      for (const { idField } of paths) expect(descriptor.fields[idField]?.kind).toBe('id');
      expect(namedIdsOf({ type, ...sampleDescriptor(descriptor) }).sort()).toEqual(
        [...new Set(paths.map(({ idField }) => `the ${idField}`))].sort(),
      );
    });

    test('has an index for every indexed field', () => {
      for (const [name, field] of fieldsOf(descriptor)) {
        const isIndexed = allIndexes().some(
          ({ collection, key }) => collection === 'actions' && `descriptor.${name}` in key,
        );
        expect(isIndexed).toBe(field.kind === 'id' && field.isIndexed);
      }
    });

    test.each(servedLocales())('has a complete sentence in %s', (locale) => {
      const values = { type, tags: [], ...sampleDescriptor(descriptor) };
      expect(sentenceOf(descriptor, values, locale)).toMatch(/^\S.*\S$/);
      const required = Object.entries(values).filter(
        ([name]) => descriptor.fields[name]?.isOptional === false,
      );
      const bare = Object.fromEntries(required);
      expect(sentenceOf(descriptor, bare, locale)).toMatch(/^\S.*\S$/);
      expect(sentenceOf(descriptor, bare, locale)).not.toMatch(/undefined|null|\[object/);
    });

    test.each(servedLocales())('starts its sentence with the actor in %s', (locale) => {
      const values = { type, tags: [], ...sampleDescriptor(descriptor) };
      const [first] = descriptor.sentence.parts(locale, { fields: values, hasName: () => true });
      expect(typeof first).toBe('object');
    });
  },
);

test('every built-in type has its own file', () => {
  const files = readdirSync(PACKS, { recursive: true, encoding: 'utf8' }).flatMap(
    (file) => /([a-z-]+)\.ts$/.exec(file)?.[1] ?? [],
  );
  const types = descriptorTypes().map(({ type }) =>
    type.replaceAll(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase(),
  );
  expect(files.sort()).toEqual([...types, 'packs'].sort());
});

test('a declaration defines a type completely', () => {
  const talkGiven = compileDescriptor(
    defineDescriptor('TalkGiven', {
      description: 'Somebody gave a talk.',
      fields: {
        speakerId: field.person({ name: 'speakerName' }),
        speakerName: field.text(),
        minutes: field.int({ min: 1, max: 600 }),
      },
      summary: {
        en: '{speakerId} talked for {minutes, plural, one {a minute} other {# minutes}}',
        de: '{speakerId} hat {minutes, plural, one {eine Minute} other {# Minuten}} gesprochen',
      },
    }),
  );
  const values = { speakerId: 's', speakerName: 'Sue', minutes: 20 };
  expect(talkGiven.schema.parse(values)).toEqual({ ...values, tags: [] });
  expect(talkGiven.schema.safeParse({ ...values, minutes: 0 }).success).toBe(false);
  expect(sentenceOf(talkGiven, values, 'en')).toBe('Sue talked for 20 minutes');
  expect(sentenceOf(talkGiven, { ...values, minutes: 1 }, 'de')).toBe('Sue hat eine Minute gesprochen');
  expect(namePathsOf([...descriptorTypes(), talkGiven])).toContainEqual({
    idField: 'speakerId',
    nameField: 'speakerName',
    types: ['TalkGiven'],
  });
});

test('a name in the same fields of several types is one path', () => {
  const path = namePathsOf().find(({ nameField: name }) => name === 'positionName');
  expect(path).toEqual({
    idField: 'positionId',
    nameField: 'positionName',
    types: ['ApplicationRating', 'NewApplicant', 'ApplicantHired'],
  });
});

test('an undeclared type has no name fields', () => {
  expect(namedIdsOf({ type: 'Retired', applicantId: 'a', applicantName: 'A' })).toEqual([]);
});
