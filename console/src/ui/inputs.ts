/** A type of an input as the schema describes it. */
export interface TypeRef {
  readonly kind: string;
  readonly name: string | null;
  readonly enumValues: readonly { readonly name: string }[] | null;
  readonly ofType: TypeRef | null;
}

export interface InputField {
  readonly name: string;
  readonly description: string | null;
  readonly type: TypeRef;
}

const NAMED = 'kind name enumValues { name }';
const REF = `${NAMED} ofType { ${NAMED} ofType { ${NAMED} ofType { ${NAMED} } } }`;

/** The inputs that publishing is made of, whatever types the installation has of its own. */
export const INPUTS = `query Inputs {
  descriptor: __type(name: "DescriptorInput") {
    inputFields { name description type { kind name ofType { kind name inputFields { name description type { ${REF} } } }
      inputFields { name description type { ${REF} } } } }
  }
  scope: __type(name: "Scope") { enumValues { name } }
  action: __type(name: "PublishActionInput") { inputFields { name defaultValue } }
}`;

export interface Inputs {
  readonly descriptor: {
    readonly inputFields: readonly {
      readonly name: string;
      readonly description: string | null;
      readonly type: { readonly inputFields: readonly InputField[] | null };
    }[];
  } | null;
  readonly scope: { readonly enumValues: readonly { readonly name: string }[] } | null;
  readonly action: {
    readonly inputFields: readonly { readonly name: string; readonly defaultValue: string | null }[];
  } | null;
}

/** How a field is filled in. */
export interface Shape {
  readonly isRequired: boolean;
  readonly isList: boolean;
  readonly name: string;
  /** What can be chosen; absent: anything. */
  readonly choices?: readonly string[];
}

/** Of a type, pictures and files. */
export const MEDIA = 'MediaInput';

export function shapeOf(type: TypeRef): Shape {
  const isRequired = type.kind === 'NON_NULL';
  const inner = isRequired ? type.ofType : type;
  const isList = inner?.kind === 'LIST';
  let named = inner;
  while (named?.ofType != null) named = named.ofType;
  const shape = { isRequired, isList, name: named?.name ?? 'String' };
  if (isList) return shape;
  if (shape.name === 'Boolean') return { ...shape, choices: ['true', 'false'] };
  return named?.enumValues == null ? shape : { ...shape, choices: named.enumValues.map((one) => one.name) };
}

/**
 * What was typed as the API wants it; undefined: left out.
 * @throws SyntaxError for JSON that is none
 */
export function valueOf(type: TypeRef, text: string): unknown {
  const { isList, name } = shapeOf(type);
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (name === MEDIA) return trimmed.split(/\s+/).map((url) => ({ url }));
  if (isList) return listOf(trimmed);
  if (name === 'JSON') return JSON.parse(trimmed) as unknown;
  if (name === 'Int' || name === 'Float') return Number(trimmed);
  if (name === 'Boolean') return trimmed === 'true';
  // Of the machine, as the browser asks for it, to one with its zone.
  if (name === 'DateTime') return new Date(trimmed).toISOString();
  return trimmed;
}

export function listOf(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
