import {
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';

/** Entries of each list that can be asked for by number. */
const FIRST = 3;
const NONE: ReadonlySet<string> = new Set();

/**
 * Everything that can be asked below a type, down to a depth: new fields are in it without more.
 * @param without fields that are left out, such as `Ref.followers`
 */
export function wholeSelection(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
  depth: number,
  without: ReadonlySet<string> = NONE,
): string {
  const own = isObjectType(type) || isAbstractType(type) ? fieldsOf(type) : [];
  const isWanted = (of: GraphQLNamedType, { name }: { readonly name: string }): boolean =>
    !without.has(`${of.name}.${name}`);
  const fields = own.flatMap((field) =>
    isWanted(type, field) ? selected(schema, field, depth, without) : [],
  );
  const concrete = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  const typesOf = typesByName(concrete);
  const fragments = concrete.map((one) => {
    const more = fieldsOf(one)
      .filter((field) => isWanted(one, field) && !own.some(({ name }) => field.name === name))
      .flatMap((field) =>
        selected(schema, field, depth, without).map((text) =>
          typesOf.get(field.name)?.size === 1 ? text : `${one.name}_${field.name}: ${text}`,
        ),
      );
    return more.length === 0 ? '' : `... on ${one.name} { ${more.join(' ')} }`;
  });
  return `{ ${['__typename', ...fields, ...fragments].join(' ')} }`;
}

/** Two types may have fields of one name and different types, which have to be told apart. */
function typesByName(types: readonly GraphQLNamedType[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { name, type } of types.flatMap(fieldsOf))
    found.set(name, (found.get(name) ?? new Set()).add(String(type)));
  return found;
}

function fieldsOf(type: GraphQLNamedType): GraphQLField<unknown, unknown>[] {
  return 'getFields' in type ? (Object.values(type.getFields()) as GraphQLField<unknown, unknown>[]) : [];
}

function selected(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  depth: number,
  without: ReadonlySet<string>,
): string[] {
  if (field.args.some(isRequiredArgument)) throw new Error(`${field.name} needs an argument`);
  const call = field.args.some(({ name }) => name === 'first')
    ? `${field.name}(first: ${String(FIRST)})`
    : field.name;
  const type = getNamedType(field.type);
  if (isLeafType(type)) return [call];
  return depth === 0 ? [] : [`${call} ${wholeSelection(schema, type, depth - 1, without)}`];
}
