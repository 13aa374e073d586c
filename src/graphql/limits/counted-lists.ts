import {
  defaultFieldResolver,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
  Kind,
  type FieldNode,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import type { GraphQLContext } from '../context.ts';
import type { Selected } from '../live-selection.ts';

type Resolver = GraphQLFieldResolver<unknown, { readonly answer?: GraphQLContext['answer'] }>;

/**
 * Makes each list of objects count in the answer that it becomes part of, before anything of its entries is made. Nothing else
 * makes an answer larger than its document. Pages that an operation requests side by side are read one after another.
 */
export function countLists(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const resolve = field.resolve ?? defaultFieldResolver;
      if (isListType(getNullableType(field.type)) && isCompositeType(getNamedType(field.type)))
        field.resolve = counted(resolve);
      else if (isRead(schema, type) && field.extensions['page'] !== undefined)
        field.resolve = inOrder(resolve);
    }
  }
  return schema;
}

/** Whether an operation has only one object of the type, or one per alias. */
function isRead(schema: GraphQLSchema, type: GraphQLObjectType): boolean {
  return type === schema.getQueryType() || type.name === 'Viewer';
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
