import { ANY_ACTIVITY } from './activity.ts';
import type { DescriptorDeclaration } from './declare.ts';
import {
  descriptorSchema,
  MAX_TEXT_LENGTH,
  type DescriptorField,
  type DescriptorType,
  type RefField,
} from './define.ts';
import { MAX_MEDIA } from './media.ts';
import type { FieldDeclaration, PersonOptions } from './field.ts';
import { defineGroupSentence, defineSentence } from './sentence.ts';

export const DEFAULT_JSON_BYTES = 16 * 1024;
/** Range of GraphQL's Int. */
export const MIN_INT = -(2 ** 31);
export const MAX_INT = 2 ** 31 - 1;
const PERSON = 'person';

type Fields = Readonly<Record<string, FieldDeclaration>>;

/** Compiles a declaration that passed `check.ts`. */
export function compileDescriptor(declaration: DescriptorDeclaration): DescriptorType {
  const { type, description, group, summary, groupSummary, activity = ANY_ACTIVITY } = declaration;
  const fields = compiledFields(declaration.fields);
  const fieldList = Object.entries(fields).map(([name, field]) => ({ name, field }));
  return {
    type,
    inputName: inputNameOf(type),
    ...{ description, fields, fieldList, summary, activity },
    ...(group === undefined ? {} : { group }),
    ...(groupSummary === undefined ? {} : { groupSummary }),
    namedFields: fieldList.flatMap(({ name, field }) =>
      field.kind === 'nameOf' ? [{ name, idField: field.idField }] : [],
    ),
    actorFields: fieldList.flatMap(({ name, field }) => (field.kind === 'id' && field.isActor ? [name] : [])),
    refFields: Object.entries(declaration.fields).flatMap(([name, field]) => refField(name, field)),
    concernedFields: personFields(
      declaration.fields,
      ({ concerned, notifies }) => (concerned ?? false) || (notifies ?? false),
    ),
    notifiedFields: personFields(declaration.fields, ({ notifies }) => notifies ?? false),
    content: contentOf(declaration.fields),
    schema: descriptorSchema(fields),
    sentence: defineSentence(summary, fields),
    groupSentence:
      group === undefined ? null : defineGroupSentence({ ...summary, ...groupSummary }, fields, group),
  };
}

function personFields(fields: Fields, is: (options: PersonOptions) => boolean): string[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field.kind === 'person' && is(field.options) ? [name] : [],
  );
}

/** The type's property of `DescriptorInput`. */
export function inputNameOf(type: string): string {
  return `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
}

export function compiledFields(declared: Fields): Record<string, DescriptorField> {
  const idFields = new Map(
    Object.entries(declared).flatMap(([name, field]) => {
      const label = labelOf(field);
      return label === undefined ? [] : [[label, name] as const];
    }),
  );
  return Object.fromEntries(
    Object.entries(declared).map(([name, field]): [string, DescriptorField] => {
      const idField = idFields.get(name);
      const compiled = compiledField(field);
      if (idField === undefined) return [name, compiled];
      const description = field.options.description ?? `Name of ${idField}.`;
      return [name, { kind: 'nameOf', idField, isOptional: compiled.isOptional, description }];
    }),
  );
}

export function labelOf(field: FieldDeclaration): string | undefined {
  if (field.kind === 'person') return field.options.name;
  return field.kind === 'ref' || field.kind === 'id' ? field.options.label : undefined;
}

function compiledField(field: FieldDeclaration): DescriptorField {
  const common = (byKind: string) => ({
    isOptional: 'optional' in field.options && (field.options.optional ?? false),
    description: field.options.description ?? byKind,
  });
  switch (field.kind) {
    case 'text': {
      const { min = 0, max = MAX_TEXT_LENGTH } = field.options;
      return { kind: 'text', minLength: min, maxLength: max, ...common('Text.') };
    }
    case 'int': {
      const { min = MIN_INT, max = MAX_INT } = field.options;
      return { kind: 'number', isInteger: true, min, max, ...common('A whole number.') };
    }
    case 'float': {
      const { min = -Number.MAX_VALUE, max = Number.MAX_VALUE } = field.options;
      return { kind: 'number', isInteger: false, min, max, ...common('A number.') };
    }
    case 'boolean':
      return { kind: 'boolean', ...common('Yes or no.') };
    case 'dateTime':
      return { kind: 'dateTime', ...common('A time.') };
    case 'enum':
      return { kind: 'enum', values: field.values, ...common(`One of ${field.values.join(', ')}.`) };
    case 'json':
      return {
        kind: 'json',
        maxBytes: field.options.maxBytes ?? DEFAULT_JSON_BYTES,
        ...common('Free data.'),
        isOptional: true,
      };
    case 'media':
      return { kind: 'media', max: field.options.max ?? MAX_MEDIA, ...common('Pictures and files.') };
    case 'id':
      return { ...idField(field.options.indexed), ...common('An id.') };
    case 'ref':
      return { ...idField(field.options.indexed), ...common(`Id of a thing of the type ${field.type}.`) };
    case 'person': {
      const { indexed, isActor = false } = field.options;
      return { ...idField(indexed), isPerson: true, isActor, ...common('Id of a person.') };
    }
  }
}

/** Which fields are shown below the sentence. */
function contentOf(fields: Fields): DescriptorType['content'] {
  const named = Object.entries(fields);
  const body = named.find(([, { options }]) => isShownAs(options, 'body'))?.[0];
  const media = named.find(([, { kind }]) => kind === 'media')?.[0];
  const [rating, rated] = named.find(([, { options }]) => isShownAs(options, 'rating')) ?? [];
  const max = rated?.kind === 'int' || rated?.kind === 'float' ? rated.options.max : undefined;
  return {
    body: body ?? null,
    rating: rating === undefined || max === undefined ? null : { name: rating, max },
    media: media ?? null,
  };
}

export function isShownAs(options: FieldDeclaration['options'], as: 'body' | 'rating'): boolean {
  return 'shownAs' in options && options.shownAs === as;
}

function idField(isIndexed = false) {
  return { kind: 'id', isIndexed, isPerson: false, isActor: false } as const;
}

function refField(name: string, field: FieldDeclaration): RefField[] {
  if (!(field.kind === 'person' || field.kind === 'ref') || field.options.asRef === false) return [];
  return field.kind === 'person'
    ? [{ name, type: PERSON, label: field.options.name }]
    : [{ name, type: field.type, label: field.options.label }];
}
