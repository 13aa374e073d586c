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
  /** `body`: what somebody wrote. Clients show it below the sentence; one field of a type. */
  readonly shownAs?: 'body';
}

export interface NumberOptions extends CommonOptions {
  readonly min?: number;
  readonly max?: number;
  /** `rating`: so many of `max`, which it needs, such as stars. Clients show it beside the body; one field of a type. */
  readonly shownAs?: 'rating';
}

export interface MediaOptions extends CommonOptions {
  /** Maximum number of pictures and files. Default and upper bound: 10. */
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
  /** The action concerns this person, and they are notified of it. Default: false. */
  readonly notifies?: boolean;
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
  | { readonly kind: 'media'; readonly options: MediaOptions }
  | { readonly kind: 'id'; readonly options: IdOptions }
  | { readonly kind: 'person'; readonly options: PersonOptions }
  | { readonly kind: 'ref'; readonly type: string; readonly options: RefOptions };

/** A constructor of fields whose options may be left out. */
function plainField<Options extends CommonOptions>() {
  return <const Kind extends FieldDeclaration['kind']>(kind: Kind) =>
    <const O extends Options = NoOptions & Options>(options?: O) =>
      ({ kind, options: options ?? {} }) as { readonly kind: Kind; readonly options: O };
}

/** Constructors for the fields of a descriptor. */
export const field = {
  /** Text. As the name of a person or thing it must have 1 to 512 characters. */
  text: plainField<TextOptions>()('text'),
  int: plainField<NumberOptions>()('int'),
  float: plainField<NumberOptions>()('float'),
  boolean: plainField<CommonOptions>()('boolean'),
  /** A time with millisecond precision. */
  dateTime: plainField<CommonOptions>()('dateTime'),
  /** One of the given names; an enum in the schema. */
  enum: <const V extends readonly string[], const O extends CommonOptions = NoOptions>(
    values: V,
    options?: O,
  ) =>
    ({ kind: 'enum', values, options: options ?? {} }) as {
      readonly kind: 'enum';
      readonly values: V;
      readonly options: O;
    },
  /** Free JSON; defaults to `{}`. */
  json: (options: JsonOptions = {}) => ({ kind: 'json', options }) as const,
  /** Pictures and files at addresses of the host. Clients show them below the body; one field of a type. */
  media: plainField<MediaOptions>()('media'),
  /** An id that does not become a ref of the action. */
  id: plainField<IdOptions>()('id'),
  /** A person's member id. Becomes a ref of type `person` unless `asRef: false`. */
  person: <const O extends PersonOptions>(options: O) => ({ kind: 'person', options }) as const,
  /** The id of a thing of the given type. Becomes a ref unless `asRef: false`. */
  ref: <const O extends RefOptions>(type: string, options: O) => ({ kind: 'ref', type, options }) as const,
} as const;
