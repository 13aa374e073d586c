// The reference of the API, from the schema: a page for each kind of type.
import { readFileSync } from 'node:fs';
import {
  buildSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isUnionType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
} from 'graphql';

const schema = buildSchema(readFileSync(new URL('../../schema/schema.graphql', import.meta.url), 'utf8'));
const ROOTS = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];

/** In the order of the sidebar. */
export const KINDS = [
  { name: 'queries', title: 'Queries', has: (type: GraphQLNamedType) => type === ROOTS[0] },
  { name: 'mutations', title: 'Mutations', has: (type: GraphQLNamedType) => type === ROOTS[1] },
  { name: 'subscriptions', title: 'Subscriptions', has: (type: GraphQLNamedType) => type === ROOTS[2] },
  {
    name: 'objects',
    title: 'Objects',
    has: (type: GraphQLNamedType) => isObjectType(type) && !ROOTS.includes(type),
  },
  { name: 'inputs', title: 'Inputs', has: isInputObjectType },
  {
    name: 'abstract',
    title: 'Interfaces and unions',
    has: (type: GraphQLNamedType) => isInterfaceType(type) || isUnionType(type),
  },
  {
    name: 'values',
    title: 'Enums and scalars',
    has: (type: GraphQLNamedType) => isEnumType(type) || isScalarType(type),
  },
];

const TYPES = Object.values(schema.getTypeMap())
  .filter(({ name }) => !name.startsWith('__'))
  .sort((a, b) => (a.name < b.name ? -1 : 1));

const link = (type: GraphQLNamedType): string => {
  const kind = KINDS.find(({ has }) => has(type));
  return `[${type.name}](/api/${kind?.name ?? ''}#${type.name.toLowerCase()})`;
};
/** Braces would be taken for a part of a page. */
const said = (text: string | null | undefined): string =>
  (text ?? '').replaceAll('{{', '{ {').replaceAll(/<(?=\w)/g, '&lt;');
const typed = (type: GraphQLArgument['type'] | GraphQLField<unknown, unknown>['type']): string =>
  `\`${String(type)}\` (${link(getNamedType(type))})`;

function argument({ name, type, description, defaultValue }: GraphQLArgument | GraphQLInputField): string {
  const otherwise = defaultValue === undefined ? '' : `, default \`${JSON.stringify(defaultValue)}\``;
  return `- **${name}** ${typed(type)}${otherwise}${description ? `: ${said(description).replaceAll('\n', ' ')}` : ''}`;
}

function field(
  { name, type, args, description, deprecationReason }: GraphQLField<unknown, unknown>,
  level: string,
): string {
  const gone = deprecationReason ? `\n\n**Deprecated:** ${said(deprecationReason)}` : '';
  return `${level} ${name}\n\n${typed(type)}\n\n${said(description)}${gone}\n\n${args.map(argument).join('\n')}`;
}

function body(type: GraphQLNamedType): string {
  if (isEnumType(type))
    return type
      .getValues()
      .map(({ name, description }) => `- **${name}**: ${said(description)}`)
      .join('\n');
  if (isUnionType(type)) return `One of ${type.getTypes().map(link).join(', ')}.`;
  if (isInputObjectType(type)) return Object.values(type.getFields()).map(argument).join('\n');
  if (isObjectType(type) || isInterfaceType(type))
    return Object.values(type.getFields())
      .map((one) =>
        one.args.length === 0 ? argument({ ...one, defaultValue: undefined } as never) : field(one, '###'),
      )
      .join('\n\n');
  return '';
}

/** @returns Markdown */
export function pageOf({ title, has }: (typeof KINDS)[number]): string {
  const types = TYPES.filter(has);
  const sections = types.flatMap((type) =>
    isObjectType(type) && ROOTS.includes(type)
      ? Object.values(type.getFields()).map((one) => field(one, '##'))
      : [`## ${type.name}\n\n${said(type.description)}\n\n${body(type)}`],
  );
  return [`# ${title}`, ...sections].join('\n\n');
}
