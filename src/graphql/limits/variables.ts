import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isScalarType,
  Kind,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';
import type { Operation } from './document-limits.ts';
import { shortened } from '../../lib/cut.ts';

/** Maximum length of a list argument, given by the argument in `extensions: { maxEntries }`. */
export interface ListArgument {
  readonly maxEntries: number;
}

/** Maximum length of any other list. */
const MAX_ENTRIES = 10_000;
/** Maximum characters of a string: several times what any field accepts, which checks its own limit. */
const MAX_TEXT_LENGTH = 64 * 1024;
/** Maximum values and characters of one JSON value; sixteen KiB of JSON contain fewer. */
const MAX_JSON_VALUES = 16 * 1024;
const MAX_JSON_LENGTH = 256 * 1024;
const MAX_NAME_LENGTH = 256;
/** Number of unknown properties for which GraphQL may search similar names. */
const MAX_UNKNOWN = 1;

/** Makes GraphQL's own check stop at the first fault, since each message quotes the whole value. */
export const FIRST_FAULT = { maxCoercionErrors: 1 };

type Variables = Readonly<Record<string, unknown>>;

/**
 * Describes what in an operation's variables is too large to examine more closely; `null`: nothing. GraphQL's own check
 * walks the whole value, formats every fault and searches similar names, so this check runs first. Type checking is left to
 * GraphQL.
 */
export function variablesFault(
  schema: GraphQLSchema,
  document: DocumentNode,
  { definition }: Operation,
  variables: Variables,
): string | null {
  const declared = new Map(
    definition.variableDefinitions?.map(({ variable, type }) => [variable.name.value, type] as const),
  );
  const maxEntries = entriesByVariable(schema, document);
  for (const name in variables) {
    const node = declared.get(name);
    const value = variables[name];
    // Clients that send one set of variables for several operations leave unused ones null.
    if (value === null) continue;
    if (node === undefined) return `Variable "$${shown(name)}" is not declared by the operation`;
    const type = typeFromAST(schema, node) as GraphQLInputType | undefined;
    const max = maxEntries.get(name) ?? MAX_ENTRIES;
    const fault =
      Array.isArray(value) && value.length > max
        ? tooLong(value, max)
        : type === undefined
          ? null
          : faultOf(value, type);
    if (fault !== null) return `Variable "$${name}": ${fault}`;
  }
  return null;
}

/** The first fault of a value with its location: `[3].refs: must have …`. */
function faultOf(value: unknown, type: GraphQLInputType): string | null {
  if (value === null || value === undefined) return null;
  if (isNonNullType(type)) return faultOf(value, type.ofType);
  if (isListType(type)) {
    const itemType = type.ofType;
    return Array.isArray(value) ? faultOfList(value, itemType) : faultOf(value, itemType);
  }
  if (isInputObjectType(type)) return faultOfObject(value, type);
  return isJson(type) ? faultOfJson(value) : faultOfText(value, maxLengthOf(type));
}

function isJson(type: GraphQLInputType): boolean {
  return isScalarType(type) && type.name === 'JSON';
}

function maxLengthOf(type: GraphQLInputType): number {
  return isEnumType(type) ? MAX_NAME_LENGTH : MAX_TEXT_LENGTH;
}

function faultOfList(values: readonly unknown[], type: GraphQLInputType): string | null {
  if (values.length > MAX_ENTRIES) return tooLong(values, MAX_ENTRIES);
  const itemType = getNullableType(type);
  const isText = isLeafType(itemType) && !isJson(itemType);
  const maxLength = isText ? maxLengthOf(itemType) : 0;
  for (let at = 0; at < values.length; at += 1) {
    const fault = isText ? faultOfText(values[at], maxLength) : faultOf(values[at], itemType);
    if (fault !== null) return `[${String(at)}]${joined(fault)}`;
  }
  return null;
}

function faultOfObject(value: unknown, type: GraphQLInputObjectType): string | null {
  if (typeof value !== 'object' || value === null) return faultOfText(value, MAX_TEXT_LENGTH);
  if (Array.isArray(value)) return `must be an object of the type ${type.name}, got a list`;
  const fields = type.getFields();
  let unknown = 0;
  for (const name in value) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      unknown += 1;
      if (unknown > MAX_UNKNOWN || name.length > MAX_NAME_LENGTH)
        return `has a property "${shown(name)}", which the type ${type.name} does not have`;
    } else {
      const fault = faultOf((value as Variables)[name], field.type);
      if (fault !== null) return `.${name}${joined(fault)}`;
    }
  }
  return null;
}

function faultOfText(value: unknown, maxLength: number): string | null {
  return typeof value === 'string' && value.length > maxLength
    ? `must have at most ${String(maxLength)} characters, got ${String(value.length)}`
    : null;
}

/** Free JSON; its depth is limited when the body is read. */
function faultOfJson(root: unknown): string | null {
  let values = 0;
  let length = 0;
  function isTooMuch(value: unknown): boolean {
    values += 1;
    if (typeof value === 'string') length += value.length;
    if (values > MAX_JSON_VALUES || length > MAX_JSON_LENGTH) return true;
    if (typeof value !== 'object' || value === null) return false;
    if (Array.isArray(value)) return value.some(isTooMuch);
    for (const name in value) {
      length += name.length;
      if (isTooMuch((value as Variables)[name])) return true;
    }
    return false;
  }
  return isTooMuch(root) ? 'exceeds the allowed amount of JSON' : null;
}

function tooLong(values: readonly unknown[], max: number): string {
  return `must have at most ${String(max)} entries, got ${String(values.length)}`;
}

/** Joins a location and a message; locations continue without a space. */
function joined(fault: string): string {
  return /^[.[]/.test(fault) ? fault : ` ${fault}`;
}

function shown(name: string): string {
  return shortened(name, 64);
}

const entriesByDocument = new WeakMap<DocumentNode, ReadonlyMap<string, number>>();

/** Maximum list length of each variable, from the arguments it is used for. */
function entriesByVariable(schema: GraphQLSchema, document: DocumentNode): ReadonlyMap<string, number> {
  const known = entriesByDocument.get(document);
  if (known !== undefined) return known;
  const found = new Map<string, number>();
  const typeInfo = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Argument({ value }) {
        const { maxEntries } = (typeInfo.getArgument()?.extensions ?? {}) as Partial<ListArgument>;
        if (value.kind !== Kind.VARIABLE || maxEntries === undefined) return;
        const name = value.name.value;
        // Operations of one document may use a variable name for different things.
        found.set(name, Math.max(maxEntries, found.get(name) ?? 0));
      },
    }),
  );
  entriesByDocument.set(document, found);
  return found;
}
