import {
  getNamedType,
  isInputObjectType,
  isObjectType,
  isInterfaceType,
  Kind,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type InlineFragmentNode,
  type SelectionSetNode,
  type ValueNode,
  defaultFieldResolver,
  getNullableType,
  isCompositeType,
  isListType,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
} from 'graphql';
import type { Operation } from './document-limits.ts';
import type { GraphQLContext } from '../context.ts';
import type { Selected } from '../live-selection.ts';

type Resolver = GraphQLFieldResolver<unknown, { readonly answer?: GraphQLContext['answer'] }>;

/**
 * Makes each list of objects count in the answer that it becomes part of, before anything of its entries is made. Nothing else
 * makes an answer larger than its document. Pages and counts that an operation requests side by side are read two at a time.
 */
export function countLists(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const given = field.resolve ?? defaultFieldResolver;
      const isCounted = isListType(getNullableType(field.type)) && isCompositeType(getNamedType(field.type));
      const isSlow = isRead(schema, type) && isCostly(field);
      if (!isCounted && !isSlow) continue;
      const resolve = isSlow ? inOrder(given) : given;
      field.resolve = isCounted ? counted(resolve) : resolve;
    }
  }
  return schema;
}

/** Whether an operation has only one object of the type, or one for each page. */
function isRead(schema: GraphQLSchema, type: GraphQLObjectType): boolean {
  return type === schema.getQueryType() || type.name === 'Viewer' || type.name.endsWith('Connection');
}

/** Whether it reads a page, or much that is not in the answer: what is asked for by id, or once for all, is loaded together. */
function isCostly({ extensions, type }: Field): boolean {
  if (extensions['page'] !== undefined || extensions['reads'] !== undefined) return true;
  return typeof extensions['size'] === 'number' && !isListType(getNullableType(type));
}

function counted(resolve: Resolver): Resolver {
  return (source, args: unknown, context, info) => {
    const list: unknown = resolve(source, args, context, info);
    const { answer } = context;
    if (answer === undefined) return list;
    const count = (entries: unknown): unknown =>
      Array.isArray(entries) ? answer.list(entries, widthOf(info)) : entries;
    return list instanceof Promise ? list.then(count) : count(list);
  };
}

function inOrder(resolve: Resolver): Resolver {
  return (source, args: unknown, context, info) => {
    const read = (): unknown => resolve(source, args, context, info);
    return context.answer === undefined ? read() : context.answer.page(read);
  };
}

const widths = new WeakMap<FieldNode, number>();

/** Values of one entry: itself and its fields, and those of objects in it. Lists in it count one entry here, and later themselves. */
function widthOf({ fieldNodes, fragments }: Selected): number {
  const [first] = fieldNodes;
  if (first === undefined) return 1;
  let width = widths.get(first);
  if (width === undefined) {
    const known = new Map<string, number>();
    width = 1;
    for (const { selectionSet } of fieldNodes) width += fieldsIn(selectionSet, fragments, known);
    widths.set(first, width);
  }
  return width;
}

/** An object has the fields of at most one of several types. @param known by the names of fragments. */
function fieldsIn(
  set: SelectionSetNode | undefined,
  fragments: Selected['fragments'],
  known: Map<string, number>,
): number {
  let fields = 0;
  const byType = new Map<string, number>();
  for (const selection of set?.selections ?? []) {
    if (selection.kind === Kind.FIELD) fields += 1 + fieldsIn(selection.selectionSet, fragments, known);
    else {
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const fragment = isSpread ? fragments[selection.name.value] : selection;
      const inside =
        (isSpread ? known.get(selection.name.value) : undefined) ??
        fieldsIn(fragment?.selectionSet, fragments, known);
      if (isSpread) known.set(selection.name.value, inside);
      const type = fragment?.typeCondition?.name.value ?? '';
      byType.set(type, (byType.get(type) ?? 0) + inside);
    }
  }
  return fields + Math.max(0, ...byType.values());
}

/** Maximum length of a list of objects, given by the field in `extensions: { size }`. */
export type ListSize =
  /** A fixed length. */
  | number
  /** Few lists are as long as they may be. */
  | { readonly usual: number; readonly most: number }
  /** The length of an argument's list. */
  | { readonly lengthOf: string; readonly max: number }
  /** The value of an argument. */
  | PageSize
  /** For the edges of a connection: the size of its page. */
  | 'page';

/** Page size of a connection, given by the field in `extensions: { page }`. */
export interface PageSize {
  /** Or several, of which one may be given. */
  readonly argument: string | readonly string[];
  readonly default: number;
  readonly max: number;
}

/**
 * Entries a field reads without returning them, given by the field in `extensions: { reads }`: always, or as the
 * value of an argument has it.
 */
export type Reads = number | ReadsByArgument | readonly ReadsByArgument[];

interface ReadsByArgument {
  readonly argument: string;
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Maximum size of a value that may be large, in bytes of JSON: free JSON, a list of plain values, a long text. Given by the
 * field in `extensions: { maxBytes }`.
 */
export interface LargeValue {
  readonly maxBytes: number;
}

/**
 * `most`: nothing that input allows costs more, so that it can be refused. `usual`: what it costs nearly always, which counts
 * for rate limits.
 */
export type CostKind = 'most' | 'usual';

/** Bytes of a large value that count as much as an object. */
const BYTES_OF_OBJECT = 1_024;
/** Plain fields that an object may have for its own cost; as many again count as another object. */
const FIELDS_OF_OBJECT = 10;

type Variables = Readonly<Record<string, unknown>>;

/**
 * Cost of answering an operation: one per object and per ten plain fields of an object, multiplied by the lengths of lists,
 * plus what fields declare to read besides; at most, also one per KiB of large values. Expects a validated operation.
 */
export function operationCost(
  kind: CostKind,
  schema: GraphQLSchema,
  operation: Operation,
  variables: Variables,
): number {
  const { definition, fragments } = operation;
  const fragmentCosts = new Map<string, Cost>();
  const values: Record<string, unknown> = {};
  for (const { variable, defaultValue } of definition.variableDefinitions ?? []) {
    const name = variable.name.value;
    values[name] = variables[name] === undefined ? literalOf(defaultValue) : variables[name];
  }

  function ofSelections(set: SelectionSetNode, type: GraphQLNamedType | undefined, page: number): number {
    const { below, fields } = inSelections(set, type, page);
    return below + Math.floor(fields / FIELDS_OF_OBJECT);
  }

  function inSelections(set: SelectionSetNode, type: GraphQLNamedType | undefined, page: number): Cost {
    let below = 0;
    let fields = 0;
    const byType = new Map<string, Cost>();
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        below += ofField(selection, type, page);
        if (selection.selectionSet === undefined) fields += 1;
        continue;
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const inside = isSpread ? inFragment(selection.name.value, page) : inline(selection, type, page);
      const condition = (isSpread ? fragments.get(selection.name.value) : selection)?.typeCondition;
      const of = condition === undefined ? type : schema.getType(condition.name.value);
      // An object has one type of several.
      const before = isObjectType(of) ? byType.get(of.name) : undefined;
      if (isObjectType(of))
        byType.set(of.name, {
          below: inside.below + (before?.below ?? 0),
          fields: inside.fields + (before?.fields ?? 0),
        });
      else {
        below += inside.below;
        fields += inside.fields;
      }
    }
    const typed = [...byType.values()];
    return {
      below: below + Math.max(0, ...typed.map((cost) => cost.below)),
      fields: fields + Math.max(0, ...typed.map((cost) => cost.fields)),
    };
  }

  function inline(
    { typeCondition, selectionSet }: InlineFragmentNode,
    type: GraphQLNamedType | undefined,
    page: number,
  ): Cost {
    const on = typeCondition?.name.value;
    return inSelections(selectionSet, on === undefined ? type : schema.getType(on), page);
  }

  function inFragment(name: string, page: number): Cost {
    const key = `${name} ${String(page)}`;
    const known = fragmentCosts.get(key);
    if (known !== undefined) return known;
    const fragment = fragments.get(name);
    if (fragment === undefined) return { below: 0, fields: 0 };
    const type = schema.getType(fragment.typeCondition.name.value);
    const cost = inSelections(fragment.selectionSet, type, page);
    fragmentCosts.set(key, cost);
    return cost;
  }

  function ofField(node: FieldNode, parent: GraphQLNamedType | undefined, page: number): number {
    if (!isObjectType(parent) && !isInterfaceType(parent)) return 0;
    const field = parent.getFields()[node.name.value];
    if (field === undefined) return 0;
    const besides = readsOf(field, node, values) + readsOfInputs(field, node, values) + bytesOf(field);
    if (node.selectionSet === undefined) return valueCost(field, kind) + besides;
    const read = pageOf(field, node, values);
    const inner = ofSelections(node.selectionSet, getNamedType(field.type), read);
    const size = sizeOf(field, node, values, { page, kind });
    // A page is read, even if none of its entries is wanted.
    const isPage = field.extensions['page'] !== undefined;
    return besides + size * (1 + (isPage ? Math.max(inner, read) : inner));
  }

  function bytesOf({ extensions }: Field): number {
    const { maxBytes = 0 } = extensions as Partial<LargeValue>;
    return kind === 'most' ? Math.floor(maxBytes / BYTES_OF_OBJECT) : 0;
  }

  return ofSelections(definition.selectionSet, schema.getRootType(definition.operation) ?? undefined, 1);
}

interface Cost {
  /** The cost of objects, and of large values. */
  readonly below: number;
  readonly fields: number;
}

type Field = GraphQLField<unknown, unknown>;

function sizeOf(
  field: Field,
  node: FieldNode,
  variables: Variables,
  { page, kind }: { readonly page: number; readonly kind: CostKind },
): number {
  const size = field.extensions['size'] as ListSize | undefined;
  if (size === undefined) return 1;
  if (size === 'page') return page;
  if (typeof size === 'number') return size;
  if ('most' in size) return size[kind];
  if ('argument' in size) return sizeGiven(size, node, variables);
  return clamp(lengthOf(argument(node, size.lengthOf), variables), size.max);
}

function readsOf(field: Field, node: FieldNode, variables: Variables): number {
  const reads = field.extensions['reads'] as Reads | undefined;
  if (reads === undefined || typeof reads === 'number') return reads ?? 0;
  return [reads].flat().reduce((sum, { argument: name, counts }) => {
    // The value may be that of a variable, which nobody has checked yet.
    const value = String(valueOf(argument(node, name), variables));
    return sum + (Object.hasOwn(counts, value) ? (counts[value] ?? 0) : 0);
  }, 0);
}

/** Entries that are read since an input has a field: that field gives them in `extensions: { reads }`. */
function readsOfInputs(field: Field, node: FieldNode, variables: Variables): number {
  return costlyInputs(field).reduce((sum, { argument: name, input, reads }) => {
    const given = argument(node, name);
    return sum + (given !== undefined && hasField(given, input, variables) ? reads : 0);
  }, 0);
}

interface CostlyInput {
  readonly argument: string;
  readonly input: string;
  readonly reads: number;
}

const knownInputs = new WeakMap<Field, readonly CostlyInput[]>();

function costlyInputs(field: Field): readonly CostlyInput[] {
  const known = knownInputs.get(field);
  if (known !== undefined) return known;
  const found = field.args.flatMap(({ name, type }) => {
    const named = getNamedType(type);
    if (!isInputObjectType(named)) return [];
    return Object.values(named.getFields()).flatMap(({ name: input, extensions }) => {
      const { reads } = extensions as { readonly reads?: number };
      return reads === undefined ? [] : [{ argument: name, input, reads }];
    });
  });
  knownInputs.set(field, found);
  return found;
}

function hasField(given: ValueNode, input: string, variables: Variables): boolean {
  if (given.kind === Kind.VARIABLE) {
    const value = variables[given.name.value];
    return typeof value === 'object' && value !== null && (value as Variables)[input] != null;
  }
  if (given.kind !== Kind.OBJECT) return false;
  const value = given.fields.find(({ name }) => name.value === input)?.value;
  return value !== undefined && valueOf(value, variables) != null;
}

/** The cost of a plain value: how many entries it is computed from, if the field declares it. */
function valueCost({ extensions }: Field, kind: CostKind): number {
  const size = extensions['size'] as ListSize | undefined;
  if (typeof size === 'object' && 'most' in size) return size[kind];
  return typeof size === 'number' ? size : 0;
}

function pageOf(field: Field, node: FieldNode, variables: Variables): number {
  const page = field.extensions['page'] as PageSize | undefined;
  return page === undefined ? 1 : sizeGiven(page, node, variables);
}

function sizeGiven(size: PageSize, node: FieldNode, variables: Variables): number {
  const given = [size.argument]
    .flat()
    .map((name) => valueOf(argument(node, name), variables))
    .filter((value) => typeof value === 'number');
  return clamp(given.length === 0 ? size.default : Math.max(...given), size.max);
}

/** Out-of-range arguments fail later; here they must not make the cost tiny or infinite. */
function clamp(value: number, max: number): number {
  return Math.min(Math.max(value, 1), max);
}

function argument(node: FieldNode, name: string): ValueNode | undefined {
  return node.arguments?.find((argument) => argument.name.value === name)?.value;
}

function valueOf(node: ValueNode | undefined, variables: Variables): unknown {
  return node?.kind === Kind.VARIABLE ? variables[node.name.value] : literalOf(node);
}

function lengthOf(node: ValueNode | undefined, variables: Variables): number {
  if (node?.kind === Kind.LIST) return node.values.length;
  const value = valueOf(node, variables);
  return Array.isArray(value) ? value.length : 1;
}

/** Evaluates only what costs depend on: numbers, texts, values of enums, and the lengths of lists. */
function literalOf(node: ValueNode | undefined): unknown {
  if (node?.kind === Kind.INT) return Number(node.value);
  if (node?.kind === Kind.ENUM || node?.kind === Kind.STRING) return node.value;
  return node?.kind === Kind.LIST ? node.values : undefined;
}
