import type { StoredDescriptor } from '../../../domain/action.ts';
import { MAX_LANGUAGES_LENGTH, type Locale } from '../../../descriptors/locale.ts';
import {
  MAX_TAG_LENGTH,
  MAX_TAGS,
  type DescriptorField,
  type DescriptorType,
} from '../../../descriptors/define.ts';
import { isMedia } from '../../../descriptors/media.ts';
import { MAX_JSON_BYTES } from '../../../descriptors/declaration-schema.ts';
import { descriptorOfType, localeFor } from '../../../descriptors/registry.ts';
import { apiError } from '../../../graphql/errors.ts';
import { builder } from '../../../graphql/builder.ts';
import type { GraphQLContext } from '../../../graphql/context.ts';
import { summaryParts } from '../../../graphql/limits/lengths.ts';
import { SHARED } from '../../../graphql/shared-field.ts';
import {
  summaryOf,
  summaryPartsOf,
  type Described,
  type SummaryPart as SummaryPartSource,
} from '../../../graphql/sentences.ts';
import { Member } from '../../directory/api/member.ts';
import { Ref } from '../../directory/api/ref.ts';

export function objectName(type: string): string {
  return `${type}Descriptor`;
}

/** Whether a stored value matches the declared field. */
function fits(field: DescriptorField, value: unknown): boolean {
  if (value === undefined || value === null) return field.isOptional && field.kind !== 'json';
  switch (field.kind) {
    case 'json':
      return true;
    case 'number':
      return Number.isFinite(value) && (!field.isInteger || Number.isInteger(value));
    case 'boolean':
      return typeof value === 'boolean';
    case 'dateTime':
      return value instanceof Date;
    case 'enum':
      return typeof value === 'string' && field.values.includes(value);
    case 'media':
      return Array.isArray(value) && value.every(isMedia);
    case 'id':
    case 'nameOf':
    case 'text':
      return typeof value === 'string';
  }
}

/** Undefined if the type is unregistered or does not match the stored value: a mismatch must not fail the page. */
export function declarationOf(stored: StoredDescriptor): DescriptorType | undefined {
  const descriptor = descriptorOfType(stored.type);
  if (descriptor === undefined) return undefined;
  return descriptor.fieldList.every(({ name, field }) => fits(field, stored[name])) ? descriptor : undefined;
}

export const SummaryPart = builder.objectRef<SummaryPartSource>('SummaryPart').implement({
  description: 'Part of a summary. Each name of a person or thing is a separate part.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'The text.', extensions: SHARED }),
    member: t.expose('member', {
      type: Member,
      nullable: true,
      description: 'The person named by this part.',
      extensions: SHARED,
    }),
    ref: t.expose('ref', {
      type: Ref,
      nullable: true,
      description: 'The thing named by this part.',
      extensions: SHARED,
    }),
  }),
});

/** @throws BAD_USER_INPUT if the argument is not a list of languages. */
export function localeOf(asked: string | null | undefined, { locale }: GraphQLContext): Locale {
  if (asked === null || asked === undefined) return locale;
  if (asked.length > MAX_LANGUAGES_LENGTH)
    throw apiError(
      'BAD_USER_INPUT',
      `locale must be at most ${String(MAX_LANGUAGES_LENGTH)} characters, got ${String(asked.length)}`,
    );
  return localeFor(asked);
}

export const LOCALE_ARG = 'A language such as "de" or "de-AT". Unsupported languages fall back to English.';

export const ActionDescriptor = builder.interfaceRef<Described>('ActionDescriptor').implement({
  description: 'What an action was about. There is one type for every kind of action.',
  resolveType({ descriptor: stored }) {
    const descriptor = declarationOf(stored);
    return descriptor === undefined ? 'UnknownDescriptor' : objectName(descriptor.type);
  },
  fields: (t) => ({
    type: t.string({
      resolve: ({ descriptor }) => descriptor.type,
      description: 'The kind of action, such as ApplicationRating.',
      extensions: SHARED,
    }),
    summary: t.string({
      description:
        'A sentence that starts with the person who acted, with current names. In the language of `locale`, otherwise of Accept-Language.',
      extensions: SHARED,
      args: { locale: t.arg.string({ description: LOCALE_ARG }) },
      resolve(action, { locale }, context) {
        const descriptor = declarationOf(action.descriptor);
        if (descriptor === undefined) return action.descriptor.type;
        return summaryOf(context.session(), action, descriptor, localeOf(locale, context));
      },
    }),
    summaryParts: t.field({
      type: [SummaryPart],
      description: 'The same sentence in parts, so that clients can link the people and things it names.',
      args: { locale: t.arg.string({ description: LOCALE_ARG }) },
      extensions: { size: summaryParts(), ...SHARED },
      resolve(action, { locale }, context) {
        const descriptor = declarationOf(action.descriptor);
        if (descriptor === undefined) return [{ text: action.descriptor.type, member: null, ref: null }];
        return summaryPartsOf(context.session(), action, descriptor, localeOf(locale, context));
      },
    }),
    tags: t.stringList({
      description: 'Tags to filter by.',
      extensions: { ...SHARED, maxBytes: MAX_TAGS * MAX_TAG_LENGTH },
      resolve: ({ descriptor }) => [...descriptor.tags],
    }),
  }),
});

builder.objectRef<Described>('UnknownDescriptor').implement({
  description: 'The descriptor of an action whose type this version of the server does not know.',
  interfaces: [ActionDescriptor],
  fields: (t) => ({
    data: t.field({
      type: 'JSON',
      description: 'Everything that was recorded.',
      extensions: { ...SHARED, maxBytes: MAX_JSON_BYTES },
      resolve: ({ descriptor: { type: _type, tags: _tags, ...fields } }) => fields,
    }),
  }),
});
