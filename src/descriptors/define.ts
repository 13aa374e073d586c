import { z } from 'zod';
import { idSchema } from './id-schema.ts';
import type { LocalMessages, Sentence, SentenceMessages } from './sentence.ts';

export const MAX_NAME_LENGTH = 512;
export const MAX_TEXT_LENGTH = 8_192;
const MAX_TAGS = 32;
const MAX_TAG_LENGTH = 64;

export function textSchema(max: number): z.ZodString {
  return z
    .string()
    .max(max, `Must be at most ${String(max)} characters`)
    .refine((value) => !value.includes('\0'), 'Must not contain NUL')
    .refine((value) => value.isWellFormed(), 'Must be well-formed Unicode');
}

/** A name shown to people: 1 to 512 characters. */
export const nameSchema = textSchema(MAX_NAME_LENGTH).min(1, 'Must not be empty');
export const tagsSchema = z
  .array(textSchema(MAX_TAG_LENGTH).min(1, 'Must not be empty'))
  .max(MAX_TAGS, `Must have at most ${String(MAX_TAGS)} tags`)
  .transform((tags) => [...new Set(tags)]);

interface CommonField {
  readonly isOptional: boolean;
  readonly description: string;
}

/** What a descriptor field is. Validation, API types, rename paths and indexes follow from it. */
export type DescriptorField = CommonField &
  (
    | {
        readonly kind: 'id';
        readonly isIndexed: boolean;
        /** A person, not a thing. */
        readonly isPerson: boolean;
        /** Names who did it: must be the actor of the action, unless a service publishes. */
        readonly isActor: boolean;
      }
    /** The denormalised name of what `idField` refers to: reads show the name of today, renames rewrite the copy. */
    | { readonly kind: 'nameOf'; readonly idField: string }
    | { readonly kind: 'text'; readonly minLength: number; readonly maxLength: number }
    /** A finite number from `min` to `max`. */
    | { readonly kind: 'number'; readonly isInteger: boolean; readonly min: number; readonly max: number }
    | { readonly kind: 'boolean' | 'dateTime' }
    | { readonly kind: 'enum'; readonly values: readonly string[] }
    /** Free JSON; `{}` when it is not given. */
    | { readonly kind: 'json'; readonly maxBytes: number }
  );

/** A field by which an action is filed: it becomes a ref. */
export interface RefField {
  readonly name: string;
  readonly type: string;
  /** The field with its name. */
  readonly label: string;
}

/** A stored descriptor, read by field name. */
export type DescriptorValues = Readonly<Record<string, unknown>>;

export interface DescriptorType {
  /** The `type` under which actions are stored and filtered, such as `ApplicationRating`. */
  readonly type: string;
  /** The property of the API's descriptor input. */
  readonly inputName: string;
  readonly description: string;
  readonly fields: Readonly<Record<string, DescriptorField>>;
  /** The same as a list: walked for every descriptor that is shown. */
  readonly fieldList: readonly { readonly name: string; readonly field: DescriptorField }[];
  /** Fields that hold the name of something, and the field with its id. */
  readonly namedFields: readonly { readonly name: string; readonly idField: string }[];
  /** Fields with the id of who did it. */
  readonly actorFields: readonly string[];
  readonly refFields: readonly RefField[];
  /** Fields with the id of somebody whom the action concerns. */
  readonly concernedFields: readonly string[];
  /** Fields that actions have in common which are shown as one; absent: they are shown one by one. */
  readonly group?: readonly string[];
  /** A whole sentence for people, by language. */
  readonly summary: SentenceMessages;
  readonly sentence: Sentence;
  /**
   * What is said of several actions of a group, by language. An id in which they differ becomes a list of names;
   * `{subjects}` is the number of those the sentence begins with. Absent for a language: its `summary`.
   */
  readonly groupSummary?: LocalMessages;
  /** Null where the type is shown one by one. */
  readonly groupSentence: Sentence | null;
  /** Validates an input, tags included; unknown properties are faults. */
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
  }
}

function numberSchema({ isInteger, min, max }: DescriptorField & { readonly kind: 'number' }): z.ZodType {
  const schema = z.number().min(min).max(max);
  return isInteger ? schema.int() : schema;
}

const isoSchema = z.iso.datetime({ offset: true });

/** The API gives a date; a line of a file gives text with a time zone. */
const timeSchema = z.unknown().transform((value, context) => {
  const time = isoSchema.safeParse(value).success ? new Date(String(value)) : value;
  if (time instanceof Date && !Number.isNaN(time.getTime())) return time;
  context.addIssue({ code: 'custom', message: 'Must be a time such as 2024-01-31T12:00:00Z' });
  return z.NEVER;
});

const MAX_JSON_DEPTH = 16;

/** Free JSON of at most so many bytes when serialised. */
export function jsonSchema(maxBytes: number): z.ZodType {
  return z.unknown().superRefine((value, context) => {
    const fault = jsonFault(value, 0);
    if (fault !== null) {
      context.addIssue({ code: 'custom', message: fault });
    } else if (Buffer.byteLength(JSON.stringify(value)) > maxBytes) {
      context.addIssue({ code: 'custom', message: `Must be at most ${String(maxBytes)} bytes of JSON` });
    }
  });
}

/** Names that databases or JavaScript would take for something else are refused rather than escaped. */
function jsonFault(value: unknown, depth: number): string | null {
  if (depth > MAX_JSON_DEPTH) return `Must be nested at most ${String(MAX_JSON_DEPTH)} levels deep`;
  if (typeof value === 'string') {
    return value.isWellFormed() ? null : 'Must be well-formed Unicode';
  }
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'Must hold finite numbers only';
  if (value === null || typeof value === 'boolean') return null;
  if (typeof value !== 'object') return 'Must be JSON';
  if (Array.isArray(value)) return firstFault(value, depth);
  for (const key of Object.keys(value)) {
    if (key.startsWith('$')) return 'Must not have property names that begin with "$"';
    if (key.includes('\0') || !key.isWellFormed()) return 'Must have well-formed property names';
    if (key === '__proto__') return 'Must not have a property named "__proto__"';
  }
  return firstFault(Object.values(value), depth);
}

function firstFault(values: readonly unknown[], depth: number): string | null {
  for (const value of values) {
    const fault = jsonFault(value, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}
