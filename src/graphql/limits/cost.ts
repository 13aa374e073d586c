import {
  getNamedType,
  isListType,
  isNonNullType,
  isObjectType,
  isInterfaceType,
  Kind,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import type { Operation } from './operation.ts';

/** Estimated length of a list field, given by the field in `extensions: { size }`. */
export type ListSize =
  /** A fixed estimate. */
  | number
  /** The length of an argument's list. */
  | { readonly lengthOf: string; readonly max: number }
  /** The value of an argument. */
  | PageSize
  /** For the edges of a connection: the size of its page. */
  | 'page';

/** Page size of a connection, given by the field in `extensions: { page }`. */
export interface PageSize {
  readonly argument: string;
  readonly default: number;
  readonly max: number;
}

/**
 * Entries a field reads without returning them, given by the field in `extensions: { reads }`: always, or only if an
 * argument has a value of an enum.
 */
export type Reads = number | { readonly argument: string; readonly value: string; readonly count: number };

/** Estimate for a list field without a size. */
const DEFAULT_SIZE = 10;

type Variables = Readonly<Record<string, unknown>>;

/**
 * Cost of answering an operation: one per requested object, multiplied by the lengths of lists as far as arguments determine
 * them, plus what fields declare to read besides. Fields of plain values are free unless they declare a size. Expects a
 * validated operation.
 */
export function operationCost(schema: GraphQLSchema, operation: Operation, variables: Variables): number {
  const { definition, fragments } = operation;
  const fragmentCosts = new Map<string, number>();
  const values: Record<string, unknown> = {};
  for (const { variable, defaultValue } of definition.variableDefinitions ?? []) {
    const name = variable.name.value;
    values[name] = variables[name] === undefined ? literalOf(defaultValue) : variables[name];
  }

  function ofSelections(set: SelectionSetNode, type: GraphQLNamedType | undefined, page: number): number {
    let cost = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) cost += ofField(selection, type, page);
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const on = selection.typeCondition?.name.value;
        cost += ofSelections(selection.selectionSet, on === undefined ? type : schema.getType(on), page);
      } else cost += ofFragment(selection.name.value, page);
    }
    return cost;
  }

  function ofFragment(name: string, page: number): number {
    const key = `${name} ${String(page)}`;
    const known = fragmentCosts.get(key);
    if (known !== undefined) return known;
    const fragment = fragments.get(name);
    if (fragment === undefined) return 0;
    const type = schema.getType(fragment.typeCondition.name.value);
    const cost = ofSelections(fragment.selectionSet, type, page);
    fragmentCosts.set(key, cost);
    return cost;
  }

  function ofField(node: FieldNode, parent: GraphQLNamedType | undefined, page: number): number {
    if (!isObjectType(parent) && !isInterfaceType(parent)) return 0;
    const field = parent.getFields()[node.name.value];
    if (field === undefined) return 0;
    if (node.selectionSet === undefined) return valueCost(field);
    const inner = ofSelections(node.selectionSet, getNamedType(field.type), pageOf(field, node, values));
    return readsOf(field, node, values) + sizeOf(field, node, values, page) * (1 + inner);
  }

  return ofSelections(definition.selectionSet, schema.getRootType(definition.operation) ?? undefined, 1);
}

type Field = GraphQLField<unknown, unknown>;

function sizeOf(field: Field, node: FieldNode, variables: Variables, page: number): number {
  const size = field.extensions['size'] as ListSize | undefined;
  if (size === undefined) return isList(field.type) ? DEFAULT_SIZE : 1;
  if (size === 'page') return page;
  if (typeof size === 'number') return size;
  if ('argument' in size) return sizeGiven(size, node, variables);
  return clamp(lengthOf(argument(node, size.lengthOf), variables), size.max);
}

function readsOf(field: Field, node: FieldNode, variables: Variables): number {
  const reads = field.extensions['reads'] as Reads | undefined;
  if (reads === undefined || typeof reads === 'number') return reads ?? 0;
  return valueOf(argument(node, reads.argument), variables) === reads.value ? reads.count : 0;
}

/** A plain value is free unless the field declares how many entries it is computed from. */
function valueCost(field: Field): number {
  const size = field.extensions['size'] as ListSize | undefined;
  return typeof size === 'number' ? size : 0;
}

function pageOf(field: Field, node: FieldNode, variables: Variables): number {
  const page = field.extensions['page'] as PageSize | undefined;
  return page === undefined ? 1 : sizeGiven(page, node, variables);
}

function sizeGiven(size: PageSize, node: FieldNode, variables: Variables): number {
  const given = valueOf(argument(node, size.argument), variables);
  return clamp(typeof given === 'number' ? given : size.default, size.max);
}

/** Out-of-range arguments fail later; here they must not make the cost tiny or infinite. */
function clamp(value: number, max: number): number {
  return Math.min(Math.max(value, 1), max);
}

function isList(type: GraphQLOutputType): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type);
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

/** Evaluates only what costs depend on: numbers, values of enums, and the lengths of lists. */
function literalOf(node: ValueNode | undefined): unknown {
  if (node?.kind === Kind.INT) return Number(node.value);
  if (node?.kind === Kind.ENUM) return node.value;
  return node?.kind === Kind.LIST ? node.values : undefined;
}
