// A call of each mutation, made of the schema: what it cannot do without, with values as a host would have them.
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLOutputType,
} from 'graphql';

/** By the name of what takes it; of others by its type. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ memberId: 'ann', actorId: 'ann', followerId: 'ben', refId: 'recipe:soup', by: 'ann' },
  ...{
    name: 'Ann Berg',
    label: 'Soup',
    type: 'recipe',
    text: 'Well done',
    phrase: 'spoiler',
    reason: 'spam',
  },
  ...{
    email: 'ann@example.org',
    url: 'https://example.org',
    alt: 'A bowl of soup',
    timeZone: 'Europe/Berlin',
  },
  ...{ from: '22:00', to: '07:00', idempotencyKey: 'soup:1', verb: 'cooked', objectType: 'recipe' },
  ...{ objectId: 'recipe:soup', endpoint: 'https://push.example.org/1', view: 'main', reaction: '👏' },
};
const BY_TYPE: Readonly<Record<string, string>> = {
  ...{ ID: '"QWN0aW9uOjE"', String: '"soup"', Int: '1', Float: '1.5', Boolean: 'true' },
  ...{ DateTime: '"2027-01-01T08:00:00.000Z"', Instant: '"2027-01-01T08:00:00.000Z"', JSON: '{ stars: 5 }' },
};
const LARGEST_SELECTION = 3;

type Given = GraphQLArgument | GraphQLInputField;

const isNeeded = ({ type, defaultValue }: Given): boolean =>
  isNonNullType(type) && defaultValue === undefined;

function valueOf(name: string, given: GraphQLInputType): string {
  const type = getNullableType(given);
  // `refIds` is a list of what `refId` is one of.
  if (isListType(type)) return `[${valueOf(name.replace(/s$/, ''), type.ofType)}]`;
  if (isInputObjectType(type)) return objectOf(type);
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  const value = VALUES[name];
  return type.name === 'String' && value !== undefined ? JSON.stringify(value) : (BY_TYPE[type.name] ?? '""');
}

function objectOf(type: GraphQLInputObjectType): string {
  const fields = Object.values(type.getFields());
  const needed = type.isOneOf ? fields.slice(0, 1) : fields.filter(isNeeded);
  return needed.length === 0 ? '{}' : `{ ${needed.map(pairOf).join(', ')} }`;
}

const pairOf = ({ name, type }: Given): string => `${name}: ${valueOf(name, type)}`;

/** Of an object what it says of itself, or else of what is in it. */
function selectionOf(given: GraphQLOutputType, depth = 0): string {
  const type = getNamedType(given);
  if (!isObjectType(type)) return '';
  const free = Object.values(type.getFields()).filter(({ args }) => !args.some(isNeeded));
  const leaves = free.filter((one) => isLeafType(getNamedType(one.type))).slice(0, LARGEST_SELECTION);
  const inner = free.find(
    (one) => selectionOf(one.type, depth + 1) !== '' || isLeafType(getNamedType(one.type)),
  );
  const names =
    leaves.length > 0 || inner === undefined || depth > 1
      ? leaves.map(({ name }) => name)
      : [`${inner.name}${selectionOf(inner.type, depth + 1)}`];
  return names.length === 0 ? '' : ` { ${names.join(' ')} }`;
}

/** @returns an operation that the schema takes */
export function exampleOf({ name, args, type }: GraphQLField<unknown, unknown>): string {
  const needed = args.filter(isNeeded);
  const given = needed.length === 0 ? '' : `(${needed.map(pairOf).join(', ')})`;
  return `mutation {\n  ${name}${given}${selectionOf(type)}\n}`;
}
