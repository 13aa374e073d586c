import type { FieldMap, InputFieldBuilder, ObjectFieldBuilder } from '@pothos/core';
import type { Details } from '../../../domain/member.ts';
import { MAX_URL_LENGTH } from '../../../descriptors/url-schema.ts';
import { MAX_DETAILS_BYTES } from '../directory.ts';
import type { builder } from '../../../graphql/builder.ts';
import type { GraphQLContext } from '../../../graphql/context.ts';
import { SHARED } from '../../../graphql/shared-field.ts';

type SchemaTypes = typeof builder.$inferSchemaTypes;

/** Fields of a member or ref with its details, loaded when one of them is requested. */
export function detailFields<Source extends object>(
  t: ObjectFieldBuilder<SchemaTypes, Source>,
  load: (source: Source, context: GraphQLContext) => Promise<Details | null>,
): FieldMap {
  return {
    imageUrl: t.string({
      nullable: true,
      description: 'URL of an image (https).',
      extensions: { ...SHARED, maxBytes: MAX_URL_LENGTH },
      resolve: async (source, _args, context) => (await load(source, context))?.imageUrl ?? null,
    }),
    url: t.string({
      nullable: true,
      description: 'URL of a page about it (https).',
      extensions: { ...SHARED, maxBytes: MAX_URL_LENGTH },
      resolve: async (source, _args, context) => (await load(source, context))?.url ?? null,
    }),
    data: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Free data of the host application.',
      extensions: { ...SHARED, maxBytes: MAX_DETAILS_BYTES },
      resolve: async (source, _args, context) => (await load(source, context))?.data ?? null,
    }),
  };
}

export function detailInputs(t: InputFieldBuilder<SchemaTypes, 'InputObject'>) {
  return {
    imageUrl: t.string({ description: 'URL of an image: https, at most 2048 characters.' }),
    url: t.string({ description: 'URL of a page about it: https, at most 2048 characters.' }),
    data: t.field({ type: 'JSON', description: 'Free data, at most 4 KiB of JSON.' }),
  };
}
