import { z } from 'zod';
import { MAX_INT, MIN_INT } from './compile.ts';
import { MAX_TEXT_LENGTH } from './define.ts';
import { MAX_MEDIA } from './media.ts';
import { MAX_ID_LENGTH } from './id-schema.ts';
import type { Locale } from './locale.ts';

const MAX_DESCRIPTION_LENGTH = 1_000;
const MAX_MESSAGE_LENGTH = 2_000;
export const MAX_JSON_BYTES = 65_536;
const MAX_ENUM_VALUES = 100;
const MAX_FIELDS = 50;

const description = z.string().min(1).max(MAX_DESCRIPTION_LENGTH);
const fieldName = z.string();
const common = { description: description.optional(), optional: z.boolean().optional() };
const filed = { ...common, indexed: z.boolean().optional(), asRef: z.boolean().optional() };
const length = z.int().min(0).max(MAX_TEXT_LENGTH).optional();
const whole = z.int().min(MIN_INT).max(MAX_INT).optional();
const finite = z.number().optional();
const rating = z.literal('rating').optional();

/** A field as created by `field.*`; hosts may also write it by hand. */
const fieldSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('text'),
    options: z.strictObject({ ...common, min: length, max: length, shownAs: z.literal('body').optional() }),
  }),
  z.strictObject({
    kind: z.literal('int'),
    options: z.strictObject({ ...common, min: whole, max: whole, shownAs: rating }),
  }),
  z.strictObject({
    kind: z.literal('float'),
    options: z.strictObject({ ...common, min: finite, max: finite, shownAs: rating }),
  }),
  z.strictObject({
    kind: z.literal('media'),
    options: z.strictObject({ ...common, max: z.int().min(1).max(MAX_MEDIA).optional() }),
  }),
  z.strictObject({ kind: z.literal(['boolean', 'dateTime']), options: z.strictObject(common) }),
  z.strictObject({
    kind: z.literal('enum'),
    values: z.array(z.string()).min(1).max(MAX_ENUM_VALUES),
    options: z.strictObject(common),
  }),
  z.strictObject({
    kind: z.literal('json'),
    options: z.strictObject({
      description: common.description,
      maxBytes: z.int().min(2).max(MAX_JSON_BYTES).optional(),
    }),
  }),
  z.strictObject({
    kind: z.literal('id'),
    options: z.strictObject({ ...common, label: fieldName.optional(), indexed: z.boolean().optional() }),
  }),
  z.strictObject({
    kind: z.literal('person'),
    options: z.strictObject({
      ...filed,
      name: fieldName,
      concerned: z.boolean().optional(),
      notifies: z.boolean().optional(),
      isActor: z.boolean().optional(),
    }),
  }),
  z.strictObject({
    kind: z.literal('ref'),
    type: z.string().min(1).max(MAX_ID_LENGTH),
    options: z.strictObject({ ...filed, label: fieldName }),
  }),
]);

export const messageSchema = z.string().min(1).max(MAX_MESSAGE_LENGTH);
export const messagesSchema = z.union([messageSchema, z.array(messageSchema).min(1)], {
  error: 'Must be a message, or a list of messages',
});

/** Shape of a declaration. Relations between its parts are checked in `check.ts`. */
export function declarationSchema(locales: readonly Locale[]) {
  const error = ({ code, keys }: { readonly code: string; readonly keys?: unknown }): string | undefined =>
    code === 'unrecognized_keys' && Array.isArray(keys)
      ? `Unknown language ${keys.join(', ')}; known are ${locales.join(', ')}. \`locales\` adds others`
      : undefined;
  const byLocale = Object.fromEntries(locales.map((locale) => [locale, messagesSchema.optional()]));
  return z.strictObject({
    type: z.string(),
    description,
    fields: z
      .record(z.string(), fieldSchema)
      .refine((fields) => Object.keys(fields).length <= MAX_FIELDS, `Must be at most ${String(MAX_FIELDS)}`),
    summary: z.strictObject({ ...byLocale, en: messagesSchema }, { error }),
    group: z.array(z.string()).min(1).optional(),
    groupSummary: z.strictObject(byLocale, { error }).optional(),
    activity: z.string().max(MAX_DESCRIPTION_LENGTH).optional(),
  });
}
