export interface CommonOptions {
  /** Description in the schema. Default: derived from the kind. */
  readonly description?: string;
  /** The field may be omitted. Default: false. */
  readonly optional?: boolean;
}

export interface TextOptions extends CommonOptions {
  /** Minimum length in characters. Default: 0. */
  readonly min?: number;
  /** Maximum length in characters. Default and upper bound: 8,192. */
  readonly max?: number;
}

export interface NumberOptions extends CommonOptions {
  readonly min?: number;
  readonly max?: number;
}

export interface JsonOptions {
  readonly description?: string;
  /** Maximum serialised size in bytes. Default: 16,384. Upper bound: 65,536. */
  readonly maxBytes?: number;
}

export interface IdOptions extends CommonOptions {
  /** Text field with the thing's name: reads show the current name there, and renames update the copy. */
  readonly label?: string;
  /** Allows `filter: {descriptor: {field, value}}` on this field. Default: false. */
  readonly indexed?: boolean;
}

interface FiledOptions extends CommonOptions {
  readonly indexed?: boolean;
  /** Adds the id to the action's refs: the action appears in its slice and in its followers' feeds. Default: true. */
  readonly asRef?: boolean;
}

export interface RefOptions extends FiledOptions {
  /** Text field with the thing's name. */
  readonly label: string;
}

export interface PersonOptions extends FiledOptions {
  /** Text field with the person's name. */
  readonly name: string;
  /** The action concerns this person: interactions bump it fully in their feed, as for mentions. Default: false. */
  readonly concerned?: boolean;
  /** Must be the id of the action's actor unless a service publishes. Default: false. */
  readonly isActor?: boolean;
}

interface NoOptions {
  readonly optional?: never;
}

export type FieldDeclaration =
  | { readonly kind: 'text'; readonly options: TextOptions }
  | { readonly kind: 'int' | 'float'; readonly options: NumberOptions }
  | { readonly kind: 'boolean' | 'dateTime'; readonly options: CommonOptions }
  | { readonly kind: 'enum'; readonly values: readonly string[]; readonly options: CommonOptions }
  | { readonly kind: 'json'; readonly options: JsonOptions }
  | { readonly kind: 'id'; readonly options: IdOptions }
  | { readonly kind: 'person'; readonly options: PersonOptions }
  | { readonly kind: 'ref'; readonly type: string; readonly options: RefOptions };

function text(): { readonly kind: 'text'; readonly options: NoOptions };
function text<const O extends TextOptions>(options: O): { readonly kind: 'text'; readonly options: O };
function text(options: TextOptions = {}) {
  return { kind: 'text', options } as const;
}

function int(): { readonly kind: 'int'; readonly options: NoOptions };
function int<const O extends NumberOptions>(options: O): { readonly kind: 'int'; readonly options: O };
function int(options: NumberOptions = {}) {
  return { kind: 'int', options } as const;
}

function float(): { readonly kind: 'float'; readonly options: NoOptions };
function float<const O extends NumberOptions>(options: O): { readonly kind: 'float'; readonly options: O };
function float(options: NumberOptions = {}) {
  return { kind: 'float', options } as const;
}

function boolean(): { readonly kind: 'boolean'; readonly options: NoOptions };
function boolean<const O extends CommonOptions>(
  options: O,
): { readonly kind: 'boolean'; readonly options: O };
function boolean(options: CommonOptions = {}) {
  return { kind: 'boolean', options } as const;
}

function dateTime(): { readonly kind: 'dateTime'; readonly options: NoOptions };
function dateTime<const O extends CommonOptions>(
  options: O,
): { readonly kind: 'dateTime'; readonly options: O };
function dateTime(options: CommonOptions = {}) {
  return { kind: 'dateTime', options } as const;
}

function enumeration<const V extends readonly string[]>(
  values: V,
): { readonly kind: 'enum'; readonly values: V; readonly options: NoOptions };
function enumeration<const V extends readonly string[], const O extends CommonOptions>(
  values: V,
  options: O,
): { readonly kind: 'enum'; readonly values: V; readonly options: O };
function enumeration(values: readonly string[], options: CommonOptions = {}) {
  return { kind: 'enum', values, options } as const;
}

function id(): { readonly kind: 'id'; readonly options: NoOptions };
function id<const O extends IdOptions>(options: O): { readonly kind: 'id'; readonly options: O };
function id(options: IdOptions = {}) {
  return { kind: 'id', options } as const;
}

/** Constructors for the fields of a descriptor. */
export const field = {
  /** Text. As the name of a person or thing it must have 1 to 512 characters. */
  text,
  /** A 32-bit integer. */
  int,
  /** A finite number. */
  float,
  boolean,
  /** A time with millisecond precision. */
  dateTime,
  /** One of the given names; an enum in the schema. */
  enum: enumeration,
  /** Free JSON; defaults to `{}`. */
  json: (options: JsonOptions = {}) => ({ kind: 'json', options }) as const,
  /** An id that does not become a ref of the action. */
  id,
  /** A person's member id. Becomes a ref of type `person` unless `asRef: false`. */
  person: <const O extends PersonOptions>(options: O) => ({ kind: 'person', options }) as const,
  /** The id of a thing of the given type. Becomes a ref unless `asRef: false`. */
  ref: <const O extends RefOptions>(type: string, options: O) => ({ kind: 'ref', type, options }) as const,
} as const;
