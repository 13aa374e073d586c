import type { DescriptorField, DescriptorType } from '../../../descriptors/define.ts';
import type { DeclarationFault } from '../../../descriptors/check.ts';
import { HostConfigError } from '../../../descriptors/host-config.ts';
import { descriptorSource, descriptorTypes } from '../../../descriptors/registry.ts';
import { builder } from '../../../graphql/builder.ts';
import { liveField } from '../../../graphql/live-selection.ts';
import { SHARED } from '../../../graphql/shared-field.ts';
import type { Described } from '../../../graphql/sentences.ts';
import { ActionDescriptor, objectName } from './descriptor.ts';
import { Media, MediaInput } from './content.ts';

// Types derived from the declared action types.

type DeclaredEnum = ReturnType<typeof defineEnum>;
type PlainType = 'JSON' | 'Int' | 'Float' | 'Boolean' | 'DateTime' | 'String' | DeclaredEnum;

const enums = new Map<string, DeclaredEnum>();
const inputs = new Map<string, ReturnType<typeof defineInput>>();

type PlainField = Exclude<DescriptorField, { readonly kind: 'media' }>;

function fieldType({ type }: DescriptorType, name: string, field: PlainField): PlainType {
  switch (field.kind) {
    case 'json':
      return 'JSON';
    case 'number':
      return field.isInteger ? 'Int' : 'Float';
    case 'boolean':
      return 'Boolean';
    case 'dateTime':
      return 'DateTime';
    case 'enum':
      return enums.get(enumName(type, name)) ?? 'String';
    case 'id':
    case 'nameOf':
    case 'text':
      return 'String';
  }
}

function mostBytesOf(field: DescriptorField): number {
  if (field.kind === 'json') return field.maxBytes;
  return field.kind === 'text' ? field.maxLength : 0;
}

function enumName(type: string, name: string): string {
  return `${type}${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function defineEnum(name: string, { values, description }: DescriptorField & { readonly kind: 'enum' }) {
  return builder.enumType(name, { values, description });
}

function defineObject(descriptor: DescriptorType): void {
  builder.objectRef<Described>(objectName(descriptor.type)).implement({
    description: descriptor.description,
    interfaces: [ActionDescriptor],
    fields: (t) =>
      Object.fromEntries(
        Object.entries(descriptor.fields).map(([name, field]) => {
          const nullable = field.isOptional && field.kind !== 'json';
          const { description } = field;
          if (field.kind === 'media')
            return [
              name,
              t.field({
                type: [Media],
                nullable,
                description,
                extensions: { ...SHARED, size: { usual: 1, most: field.max } },
                resolve: ({ descriptor: stored }) => (stored[name] ?? null) as never,
              }),
            ];
          return [
            name,
            t.field({
              type: fieldType(descriptor, name, field),
              nullable,
              description,
              extensions: { ...SHARED, maxBytes: mostBytesOf(field) },
              resolve: (action, _args, context) =>
                (field.kind === 'nameOf'
                  ? liveField(context, action, { idField: field.idField, name })
                  : (action.descriptor[name] ?? null)) as never,
            }),
          ];
        }),
      ),
  });
}

function inputDescription(field: DescriptorField): string {
  const isActor = field.kind === 'id' && field.isActor;
  return isActor ? `${field.description} Must be the actor unless a service publishes.` : field.description;
}

function defineInput(descriptor: DescriptorType) {
  const { type: typeName, fields, description } = descriptor;
  return builder.inputType(`${typeName}Input`, {
    description,
    fields: (t) => ({
      ...Object.fromEntries(
        Object.entries(fields).map(([name, field]) => {
          const described = { required: !field.isOptional, description: inputDescription(field) };
          return [
            name,
            field.kind === 'media'
              ? t.field({ type: [MediaInput], ...described })
              : t.field({ type: fieldType(descriptor, name, field), ...described }),
          ];
        }),
      ),
      tags: t.stringList({ description: 'Tags to filter by, at most 32.' }),
    }),
  });
}

export const DescriptorInput = builder.inputType('DescriptorInput', {
  description: 'What happened: exactly one of these.',
  isOneOf: true,
  fields: (t) =>
    Object.fromEntries(
      descriptorTypes().map((descriptor) => [
        descriptor.inputName,
        t.field({ type: requireInput(descriptor), description: descriptor.description }),
      ]),
    ),
});

function requireInput({ type }: DescriptorType): ReturnType<typeof defineInput> {
  const input = inputs.get(type);
  if (input === undefined) throw new Error(`${type} has no input`);
  return input;
}

/**
 * Adds object, input and enums of every declared type, once; must run after the API's own types have been defined.
 * @throws HostConfigError if a name is already used in the API.
 */
export function defineDeclaredDescriptors(): void {
  if (inputs.size > 0) return;
  const taken = descriptorTypes().flatMap(nameFaults);
  if (taken.length > 0) throw new HostConfigError(taken, descriptorSource());
  for (const descriptor of descriptorTypes()) {
    for (const { name, field } of descriptor.fieldList) {
      const served = enumName(descriptor.type, name);
      if (field.kind === 'enum') enums.set(served, defineEnum(served, field));
    }
    defineObject(descriptor);
    inputs.set(descriptor.type, defineInput(descriptor));
  }
}

function nameFaults({ type, fieldList }: DescriptorType): DeclarationFault[] {
  const names = [
    ...[objectName(type), `${type}Input`].map((served) => ({ path: type, served })),
    ...fieldList.flatMap(({ name, field }) =>
      field.kind === 'enum' ? [{ path: `${type}.fields.${name}`, served: enumName(type, name) }] : [],
    ),
  ];
  return names.flatMap(({ path, served }) =>
    builder.configStore.hasConfig(served)
      ? [
          {
            path,
            message: `It would be called ${served} in the API, but that name is taken: choose another name`,
          },
        ]
      : [],
  );
}
