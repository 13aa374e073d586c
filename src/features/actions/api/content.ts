import { MAX_TEXT_LENGTH } from '../../../descriptors/define.ts';
import {
  MAX_ALT_LENGTH,
  type MEDIA_KINDS,
  mediaIn,
  type Media as MediaRecord,
} from '../../../descriptors/media.ts';
import { MAX_URL_LENGTH } from '../../../descriptors/url-schema.ts';
import { builder } from '../../../graphql/builder.ts';
import { mostMedia } from '../../../graphql/limits/lengths.ts';
import { SHARED } from '../../../graphql/shared-field.ts';
import type { Described } from '../../../graphql/sentences.ts';
import { declarationOf } from './descriptor.ts';

const MediaKind = builder.enumType('MediaKind', {
  description: 'How something is shown.',
  values: {
    PICTURE: { description: 'As a picture.' },
    FILE: { description: 'As a link.' },
  } satisfies Record<(typeof MEDIA_KINDS)[number], object>,
});

export const Media = builder.objectRef<MediaRecord>('Media').implement({
  description: 'A picture or file.',
  fields: (t) => ({
    url: t.exposeString('url', {
      description: 'Its address: https.',
      extensions: { ...SHARED, maxBytes: MAX_URL_LENGTH },
    }),
    alt: t.exposeString('alt', {
      description: 'What a picture shows, or the name of a file; empty: it says nothing.',
      extensions: { ...SHARED, maxBytes: MAX_ALT_LENGTH },
    }),
    kind: t.expose('kind', { type: MediaKind, description: 'How it is shown.', extensions: SHARED }),
    width: t.int({
      nullable: true,
      description: 'Width in pixels; null: unknown.',
      extensions: SHARED,
      resolve: ({ width }) => width ?? null,
    }),
    height: t.int({
      nullable: true,
      description: 'Height in pixels; null: unknown.',
      extensions: SHARED,
      resolve: ({ height }) => height ?? null,
    }),
    blurhash: t.string({
      nullable: true,
      description: 'A BlurHash, to be shown until it is loaded; null: none was given.',
      extensions: SHARED,
      resolve: ({ blurhash }) => blurhash ?? null,
    }),
  }),
});

export const MediaInput = builder.inputType('MediaInput', {
  description: 'A picture or file at an address of the application.',
  fields: (t) => ({
    url: t.string({ required: true, description: 'Its address: https, at most 2048 characters.' }),
    alt: t.string({
      description: 'What a picture shows, or the name of a file, at most 1000 characters. Default: empty.',
    }),
    kind: t.field({ type: MediaKind, description: 'How it is shown. Default: PICTURE.' }),
    width: t.int({ description: 'Width in pixels, 1 to 65535, together with the height.' }),
    height: t.int({ description: 'Height in pixels, 1 to 65535, together with the width.' }),
    blurhash: t.string({ description: 'A BlurHash of a picture, to be shown until it is loaded.' }),
  }),
});

interface RatingRecord {
  readonly value: number;
  readonly max: number;
}

const Rating = builder.objectRef<RatingRecord>('Rating').implement({
  description: 'A rating, such as four of five stars.',
  fields: (t) => ({
    value: t.exposeFloat('value', { description: 'From 0 to `max`.', extensions: SHARED }),
    max: t.exposeFloat('max', { description: 'The best there is.', extensions: SHARED }),
  }),
});

export const ActionContent = builder.objectRef<Described>('ActionContent').implement({
  description:
    'What an action shows below its sentence: what its type declares to be the body, the rating, the pictures.',
  fields: (t) => ({
    body: t.string({
      nullable: true,
      description: 'What somebody wrote; null: nothing.',
      extensions: { ...SHARED, maxBytes: MAX_TEXT_LENGTH },
      resolve: ({ descriptor }) => {
        const { body = null } = declarationOf(descriptor)?.content ?? {};
        const text = body === null ? null : descriptor[body];
        return typeof text === 'string' && text !== '' ? text : null;
      },
    }),
    rating: t.field({
      type: Rating,
      nullable: true,
      description: 'How good it was; null: nobody said.',
      extensions: SHARED,
      resolve: ({ descriptor }) => {
        const { rating = null } = declarationOf(descriptor)?.content ?? {};
        const value = rating === null ? null : descriptor[rating.name];
        return rating === null || typeof value !== 'number' ? null : { value, max: rating.max };
      },
    }),
    media: t.field({
      type: [Media],
      description: 'Pictures and files, in their order.',
      extensions: { size: mostMedia(), ...SHARED },
      resolve: ({ descriptor }) => {
        const { media = null } = declarationOf(descriptor)?.content ?? {};
        return media === null ? [] : [...mediaIn(descriptor[media])];
      },
    }),
  }),
});
