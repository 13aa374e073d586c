import type { StoredDescriptor } from '../../domain/action.ts';
import type { DescriptorField, DescriptorType } from '../../descriptors/define.ts';
import { DESCRIPTOR_TYPES, descriptorOfType } from '../../descriptors/registry.ts';
import { builder } from '../builder.ts';
import { liveField, withLiveNames } from '../live-names.ts';

function objectName(descriptor: DescriptorType): string {
  return `${descriptor.type}Descriptor`;
}

/** Whether a stored value can be served as the field that is declared. */
function fits(field: DescriptorField, value: unknown): boolean {
  if (value === undefined || value === null) return field.isOptional && field.kind !== 'json';
  if (field.kind === 'json') return true;
  return field.kind === 'number' ? Number.isFinite(value) : typeof value === 'string';
}

/**
 * The declaration by which a stored descriptor is served. Undefined when its type is no longer registered, or
 * changed so that what was stored does not fit: that must not take the page down.
 */
function declarationOf(stored: StoredDescriptor): DescriptorType | undefined {
  const descriptor = descriptorOfType(stored.type);
  if (descriptor === undefined) return undefined;
  return descriptor.fieldList.every(({ name, field }) => fits(field, stored[name])) ? descriptor : undefined;
}

export const ActionDescriptor = builder.interfaceRef<StoredDescriptor>('ActionDescriptor').implement({
  description: 'What an action was about. There is one type for every kind of action.',
  resolveType(stored) {
    const descriptor = declarationOf(stored);
    return descriptor === undefined ? 'UnknownDescriptor' : objectName(descriptor);
  },
  fields: (t) => ({
    type: t.string({
      resolve: (stored) => stored.type,
      description: 'The kind of action, such as ApplicationRating.',
    }),
    summary: t.string({
      description: 'One line of plain English, with the names of now.',
      async resolve(stored, _args, context) {
        const descriptor = declarationOf(stored);
        if (descriptor === undefined) return stored.type;
        return descriptor.summary(await withLiveNames(context.session(), descriptor, stored));
      },
    }),
    tags: t.stringList({ description: 'Free words to filter by.', resolve: (stored) => [...stored.tags] }),
  }),
});

function defineObject(descriptor: DescriptorType): void {
  builder.objectRef<StoredDescriptor>(objectName(descriptor)).implement({
    description: descriptor.description,
    interfaces: [ActionDescriptor],
    fields: (t) =>
      Object.fromEntries(
        Object.entries(descriptor.fields).map(([name, field]) => {
          const type = field.kind === 'json' ? 'JSON' : field.kind === 'number' ? 'Float' : 'String';
          const nullable = field.isOptional && field.kind !== 'json';
          const { description } = field;
          return [
            name,
            t.field({
              type,
              nullable,
              description,
              resolve: (stored, _args, context) =>
                (field.kind === 'nameOf'
                  ? liveField(context.session(), stored, { idField: field.idField, name })
                  : (stored[name] ?? null)) as never,
            }),
          ];
        }),
      ),
  });
}

for (const descriptor of DESCRIPTOR_TYPES) defineObject(descriptor);

builder.objectRef<StoredDescriptor>('UnknownDescriptor').implement({
  description: 'The descriptor of an action whose type this version of the server does not know.',
  interfaces: [ActionDescriptor],
  fields: (t) => ({
    data: t.field({
      type: 'JSON',
      description: 'Everything that was recorded.',
      resolve: ({ type: _type, tags: _tags, ...fields }) => fields,
    }),
  }),
});

function inputDescription(field: DescriptorField): string {
  const isActor = field.kind === 'id' && field.isActor;
  return isActor ? `${field.description} Must be the actor unless a service publishes.` : field.description;
}

function defineInput(descriptor: DescriptorType) {
  const { inputName, fields, description } = descriptor;
  return builder.inputType(`${inputName.charAt(0).toUpperCase()}${inputName.slice(1)}Input`, {
    description,
    fields: (t) => ({
      ...Object.fromEntries(
        Object.entries(fields).map(([name, field]) => {
          const type = field.kind === 'json' ? 'JSON' : field.kind === 'number' ? 'Float' : 'String';
          return [name, t.field({ type, required: !field.isOptional, description: inputDescription(field) })];
        }),
      ),
      tags: t.stringList({ description: 'Free words to filter by, at most 32.' }),
    }),
  });
}

export const DescriptorInput = builder.inputType('DescriptorInput', {
  description: 'What the action was about: exactly one of these.',
  isOneOf: true,
  fields: (t) =>
    Object.fromEntries(
      DESCRIPTOR_TYPES.map((descriptor) => [
        descriptor.inputName,
        t.field({ type: defineInput(descriptor), description: descriptor.description }),
      ]),
    ),
});
