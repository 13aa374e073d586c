import {
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import { toByteText } from '../../lib/byte-text.ts';
import type { Sharing } from '../shared-field.ts';
import type { Place } from './personal-selection.ts';
import type { ResultText } from './result-text.ts';

/** The text of a viewer's result, computed from their root value: UTF-8, one character per byte. */
export type FillText = (root: object) => string;

type Read = (source: unknown) => unknown;

/** Plain resolvers use only their source object. */
type PlainResolver = GraphQLFieldResolver<unknown, null, Record<string, never>>;
const NO_INFO = {} as Parameters<PlainResolver>[3];

/**
 * Fills the viewer's own values into the gaps of a text without executing the operation. `null` if that is impossible for
 * one of them: its field is not plain, is inside a list, or differs between types.
 * @param root the root value the text was made from; roots with the same types give texts of the same form.
 */
export function plainFill(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  { text, places, root }: { readonly text: ResultText; readonly places: Place; readonly root: object },
): FillText | null {
  const reads = text.gaps.map((path) => readText({ schema, type, places, root, path }));
  if (!reads.every((read) => read !== null)) return null;
  const [first = '', ...rest] = text.texts.map(toByteText);
  const parts = reads.map((read, index) => ({ read, after: rest[index] ?? '' }));
  return (value) => {
    let filled = first;
    for (const { read, after } of parts) filled += read(value) + after;
    return filled;
  };
}

interface Gap {
  readonly schema: GraphQLSchema;
  readonly type: GraphQLObjectType;
  readonly places: Place;
  readonly root: unknown;
  readonly path: readonly (string | number)[];
}

/** Reads the value of a gap as JSON in UTF-8. */
function readText({ schema, type: rootType, places, root, path }: Gap): ((root: unknown) => string) | null {
  let type: GraphQLObjectType = rootType;
  let place: Place | undefined = places;
  let source = root;
  const steps: Read[] = [];
  for (const [index, step] of path.entries()) {
    place = typeof step === 'string' ? place?.below.get(step) : undefined;
    const field: PlainField | null = place?.field == null ? null : plainField(type, place.field);
    if (field === null) return null;
    if (index === path.length - 1) return textOf(steps, field);
    steps.push(field.read);
    source = field.read(source);
    const below = concreteType(schema, field.type, source);
    if (below === null) return null;
    type = below;
  }
  return null;
}

interface PlainField {
  readonly type: GraphQLOutputType;
  readonly read: Read;
}

function plainField(parent: GraphQLObjectType, name: string): PlainField | null {
  const field: GraphQLField<unknown, unknown> | undefined = parent.getFields()[name];
  if (field === undefined || (field.extensions as Sharing).isPlain !== true) return null;
  const resolve = field.resolve as PlainResolver | undefined;
  const type = getNullableType(field.type);
  // Without a resolver, a field returns the property of its name.
  if (resolve === undefined)
    return { type, read: (source) => (source as Readonly<Record<string, unknown>>)[name] };
  return { type, read: (source) => resolve(source, {}, null, NO_INFO) };
}

/** Type of an existing object; `null`: not an object, or its type cannot be determined synchronously. */
function concreteType(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  source: unknown,
): GraphQLObjectType | null {
  if (isObjectType(type)) return type;
  if (!isAbstractType(type)) return null;
  const name = type.resolveType?.(source, null, NO_INFO, type);
  const found = typeof name === 'string' ? schema.getType(name) : undefined;
  return isObjectType(found) ? found : null;
}

/** Reuses the last text if the value is the same. */
function textOf(steps: readonly Read[], { type, read }: PlainField): ((root: unknown) => string) | null {
  const write = writerOf(type);
  if (write === null) return null;
  let last: unknown;
  let text = '';
  return (root) => {
    let source = root;
    for (const step of steps) source = step(source);
    const value = read(source);
    if (text === '' || !isSame(value, last)) {
      text = value == null ? 'null' : toByteText(JSON.stringify(write(value)));
      last = value;
    }
    return text;
  };
}

/** Times and lists are often new objects with the same content: those of many readers of one action. */
function isSame(value: unknown, last: unknown): boolean {
  if (value === last) return true;
  if (value instanceof Date) return last instanceof Date && value.getTime() === last.getTime();
  if (!Array.isArray(value) || !Array.isArray(last) || value.length !== last.length) return false;
  return value.every((entry, index) => entry === last[index]);
}

/** Completes a non-null value the way the executor does. */
function writerOf(type: GraphQLOutputType): Read | null {
  if (isLeafType(type)) return (value) => type.serialize(value);
  if (!isListType(type)) return null;
  const write = writerOf(getNullableType(type.ofType as GraphQLOutputType));
  return write === null
    ? null
    : (values) => Array.from(values as Iterable<unknown>, (value) => (value == null ? null : write(value)));
}
