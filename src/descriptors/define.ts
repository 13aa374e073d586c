import { z } from 'zod';
import { tagForm } from '../domain/text-forms.ts';
import type { ActivityDeclaration } from './activity.ts';
import { idSchema } from './id-schema.ts';
import { mediaSchema } from './media.ts';
import { lineSchema, textSchema } from './text-schema.ts';
import type { LocalMessages, Sentence, SentenceMessages } from './sentence.ts';

export const MAX_NAME_LENGTH = 512;
export const MAX_TEXT_LENGTH = 8_192;
export const MAX_TAGS = 32;
export const MAX_TAG_LENGTH = 64;

/** A display name: 1 to 512 characters. */
export const nameSchema = lineSchema(MAX_NAME_LENGTH);
export const tagsSchema = z
  .array(lineSchema(MAX_TAG_LENGTH).transform(tagForm))
  .max(MAX_TAGS, `Must have at most ${String(MAX_TAGS)} tags`)
  .transform((tags) => [...new Set(tags)]);

/** Compiled field. Validation, API types, rename paths and indexes are derived from it. */
export type DescriptorField = { readonly isOptional: boolean; readonly description: string } & (
  | {
      readonly kind: 'id';
      readonly isIndexed: boolean;
      /** Refers to a person instead of a thing. */
      readonly isPerson: boolean;
      /** Must be the id of the action's actor, unless a service publishes. */
      readonly isActor: boolean;
    }
  /** A copy of the name that belongs to `idField`: reads show the current name, renames update the copy. */
  | { readonly kind: 'nameOf'; readonly idField: string }
  | { readonly kind: 'text'; readonly minLength: number; readonly maxLength: number }
  /** A finite number from `min` to `max`. */
  | { readonly kind: 'number'; readonly isInteger: boolean; readonly min: number; readonly max: number }
  | { readonly kind: 'boolean' | 'dateTime' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  /** Free JSON; defaults to `{}`. */
  | { readonly kind: 'json'; readonly maxBytes: number }
  /** At most `max` pictures and files. */
  | { readonly kind: 'media'; readonly max: number }
);

/** A field whose id becomes a ref of the action. */
export interface RefField {
  readonly name: string;
  readonly type: string;
  /** Name of the field with the ref's label. */
  readonly label: string;
}

export type DescriptorValues = Readonly<Record<string, unknown>>;

export interface DescriptorType {
  /** Name of the type in storage and filters, such as `ApplicationRating`. */
  readonly type: string;
  /** Property of the API's `DescriptorInput`. */
  readonly inputName: string;
  readonly description: string;
  readonly fields: Readonly<Record<string, DescriptorField>>;
  /** Names of the fields that are shown below the sentence; `null`: the type has none. */
  readonly content: {
    readonly body: string | null;
    readonly rating: { readonly name: string; readonly max: number } | null;
    readonly media: string | null;
  };
  /** `fields` as a list, which is faster to iterate for every descriptor shown. */
  readonly fieldList: readonly { readonly name: string; readonly field: DescriptorField }[];
  /** Fields with a copied name, each with the field of the id it belongs to. */
  readonly namedFields: readonly { readonly name: string; readonly idField: string }[];
  /** Fields that contain the actor's id. */
  readonly actorFields: readonly string[];
  readonly refFields: readonly RefField[];
  /** Fields that contain ids of people the action concerns. */
  readonly concernedFields: readonly string[];
  /** The fields among them that contain ids of people to notify. */
  readonly notifiedFields: readonly string[];
  /** Fields that must be equal for actions to be shown as one group; absent: never grouped. */
  readonly group?: readonly string[];
  /** A complete sentence for readers, by language. */
  readonly summary: SentenceMessages;
  readonly sentence: Sentence;
  /**
   * Sentence about a group of actions, by language. An id in which the actions differ becomes a list of names; `{subjects}`
   * is the number of names at the start of the sentence. Languages left out use `summary`.
   */
  readonly groupSummary?: LocalMessages;
  /** `null` when the type is never grouped. */
  readonly groupSentence: Sentence | null;
  readonly activity: ActivityDeclaration;
  /** Validates an input including its tags; rejects unknown properties. */
  readonly schema: z.ZodType<{ tags: string[] } & Record<string, unknown>>;
}

export function descriptorSchema(fields: DescriptorType['fields']): DescriptorType['schema'] {
  return z.strictObject({
    ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)])),
    tags: tagsSchema.nullish().transform((tags) => tags ?? []),
  });
}

function fieldSchema(field: DescriptorField): z.ZodType {
  const schema = requiredSchema(field);
  if (field.kind === 'json') return schema.nullish().transform((value) => value ?? {});
  return field.isOptional ? schema.nullish() : schema;
}

function requiredSchema(field: DescriptorField): z.ZodType {
  switch (field.kind) {
    case 'id':
      return idSchema;
    case 'nameOf':
      return nameSchema;
    case 'text':
      return textSchema(field.maxLength).min(
        field.minLength,
        field.minLength === 1
          ? 'Must not be empty'
          : `Must be at least ${String(field.minLength)} characters`,
      );
    case 'number':
      return numberSchema(field);
    case 'boolean':
      return z.boolean();
    case 'dateTime':
      return timeSchema;
    case 'enum':
      return z.enum(field.values);
    case 'json':
      return jsonSchema(field.maxBytes);
    case 'media':
      return mediaSchema(field.max);
  }
}

function numberSchema({ isInteger, min, max }: DescriptorField & { readonly kind: 'number' }): z.ZodType {
  const schema = z.number().min(min).max(max);
  return isInteger ? schema.int() : schema;
}

const isoSchema = z.iso.datetime({ offset: true });

/** The API passes a Date; a line of an import file has text with a time zone. */
const timeSchema = z.unknown().transform((value, context) => {
  const time = isoSchema.safeParse(value).success ? new Date(String(value)) : value;
  if (time instanceof Date && !Number.isNaN(time.getTime())) return time;
  context.addIssue({ code: 'custom', message: 'Must be a time such as 2024-01-31T12:00:00Z' });
  return z.NEVER;
});

const MAX_JSON_DEPTH = 16;

/** Free JSON with a maximum serialised size. A fault inside it is reported with its location. */
export function jsonSchema(maxBytes: number): z.ZodType {
  return z.unknown().superRefine((value, context) => {
    const fault = jsonFault(value, 0);
    if (fault !== null) {
      context.addIssue({ code: 'custom', ...fault });
    } else if (Buffer.byteLength(JSON.stringify(value)) > maxBytes) {
      context.addIssue({ code: 'custom', message: `Must be at most ${String(maxBytes)} bytes of JSON` });
    }
  });
}

interface JsonFault {
  readonly path: (string | number)[];
  readonly message: string;
}

/**
 * Rejects what would not come back as it was given. Names that a database or JavaScript gives a meaning are rejected instead
 * of escaped; all others are carried unchanged.
 */
function jsonFault(value: unknown, depth: number): JsonFault | null {
  const message = valueFault(value, depth);
  if (message !== null) return { path: [], message };
  if (typeof value !== 'object' || value === null) return null;
  const isList = Array.isArray(value);
  for (const [key, inner] of Object.entries(value)) {
    const wrong = isList ? null : nameFault(key);
    if (wrong !== null) return { path: [], message: wrong };
    const fault = jsonFault(inner, depth + 1);
    if (fault !== null) return { ...fault, path: [isList ? Number(key) : key, ...fault.path] };
  }
  return null;
}

function valueFault(value: unknown, depth: number): string | null {
  if (depth > MAX_JSON_DEPTH) return `Must be nested at most ${String(MAX_JSON_DEPTH)} levels deep`;
  if (typeof value === 'string') return value.isWellFormed() ? null : 'Must be well-formed Unicode';
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'Must hold finite numbers only';
  if (value === null || typeof value === 'boolean') return null;
  return typeof value === 'object' && (Array.isArray(value) || isPlain(value)) ? null : 'Must be JSON';
}

/** Not an instance of a class, which would be stored as something else; also of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** JavaScript takes the one for an object's prototype, the database's driver the other for the mark of its own values. */
const TAKEN_NAMES: readonly string[] = ['__proto__', '_bsontype'];

function nameFault(name: string): string | null {
  if (name.startsWith('$')) return 'Must not have property names that begin with "$"';
  if (name.includes('\0') || !name.isWellFormed()) return 'Must have well-formed property names';
  return TAKEN_NAMES.includes(name) ? `Must not have a property named "${name}"` : null;
}
