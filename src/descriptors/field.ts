export interface CommonOptions {
  /** Shown in the schema. Default: by its kind. */
  readonly description?: string;
  /** May be left out. Default: no. */
  readonly optional?: boolean;
}

export interface TextOptions extends CommonOptions {
  /** Least length in characters. Default: 0. */
  readonly min?: number;
  /** Greatest length in characters, up to 8,192, which is the default. */
  readonly max?: number;
}

export interface NumberOptions extends CommonOptions {
  readonly min?: number;
  readonly max?: number;
}

export interface JsonOptions {
  readonly description?: string;
  /** Most bytes when serialised, up to 65,536. Default: 16,384. */
  readonly maxBytes?: number;
}

export interface IdOptions extends CommonOptions {
  /** The text field that holds its name: reads show the name of now there, and renames reach the copy. */
  readonly label?: string;
  /** Actions are found by it: `filter: {descriptor: {field, value}}`. Default: no. */
  readonly indexed?: boolean;
}

interface FiledOptions extends CommonOptions {
  readonly indexed?: boolean;
  /** Whether the action carries it as a ref, so that it is in its slice and in the feeds of its followers. Default: yes. */
  readonly asRef?: boolean;
}

export interface RefOptions extends FiledOptions {
  /** The text field that holds its name. */
  readonly label: string;
}

export interface PersonOptions extends FiledOptions {
  /** The text field that holds their name. */
  readonly name: string;
  /** Interactions lift the action all the way for them, as for who is mentioned. Default: no. */
  readonly concerned?: boolean;
  /** Who did it: must be the actor of the action unless a service publishes. Default: no. */
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

/** The kinds of fields that a descriptor can have. */
export const field = {
  /** Text. Also what holds the name of a person or a thing: 1 to 512 characters then. */
  text,
  /** A whole number of 32 bits. */
  int,
  /** A finite number. */
  float,
  boolean,
  /** A time, stored to the millisecond. */
  dateTime,
  /** One of these names, an enum in the schema. */
  enum: enumeration,
  /** Free JSON, `{}` when it is left out. */
  json: (options: JsonOptions = {}) => ({ kind: 'json', options }) as const,
  /** The id of anything, which the action is not filed under. */
  id,
  /** A person, by their member id. Without `asRef: false` a ref of the action, of the type `person`. */
  person: <const O extends PersonOptions>(options: O) => ({ kind: 'person', options }) as const,
  /** A thing of that type. Without `asRef: false` a ref of the action. */
  ref: <const O extends RefOptions>(type: string, options: O) => ({ kind: 'ref', type, options }) as const,
} as const;
