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
import { exampleOf } from './examples.ts';

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

const link = (type: GraphQLNamedType, text = type.name): string => {
  const kind = KINDS.find(({ has }) => has(type));
  return `[${text}](/api/${kind?.name ?? ''}#${type.name.toLowerCase()})`;
};
/** Braces would be taken for a part of a page. */
const said = (text: string | null | undefined): string =>
  (text ?? '').replaceAll('{{', '{ {').replaceAll(/<(?=\w)/g, '&lt;');
/** Once: as it is written, leading to what it names. */
const typed = (type: GraphQLArgument['type'] | GraphQLField<unknown, unknown>['type']): string =>
  link(getNamedType(type), `\`${String(type)}\``);

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
  if (isUnionType(type))
    return `One of ${type
      .getTypes()
      .map((one) => link(one))
      .join(', ')}.`;
  if (isInputObjectType(type)) return Object.values(type.getFields()).map(argument).join('\n');
  if (isObjectType(type) || isInterfaceType(type))
    return Object.values(type.getFields())
      .map((one) =>
        one.args.length === 0 ? argument({ ...one, defaultValue: undefined } as never) : field(one, '###'),
      )
      .join('\n\n');
  return '';
}

/** Whom a mutation is for, as its description begins. */
const CALLERS = [
  { title: 'What a reader does', says: null },
  { title: 'What a service does on behalf of others', says: /^Service\b/ },
  { title: 'What a moderator does', says: /^Admin and moderator\b/ },
  { title: 'What an administrator does', says: /^Admin\b(?! or the actor)/ },
] as const;

/** @returns the mutations of each kind of caller, each in one place */
function byCaller(fields: readonly GraphQLField<unknown, unknown>[]): string[] {
  const callerOf = ({ description }: GraphQLField<unknown, unknown>): (typeof CALLERS)[number] =>
    CALLERS.find(({ says }) => says?.test(description ?? '')) ?? CALLERS[0];
  return CALLERS.flatMap((caller) => [
    `## ${caller.title}`,
    ...fields
      .filter((one) => callerOf(one) === caller)
      .map((one) => `${field(one, '###')}\n\n\`\`\`graphql\n${exampleOf(one)}\n\`\`\``),
  ]);
}

/** @returns Markdown */
export function pageOf({ title, has }: (typeof KINDS)[number]): string {
  const types = TYPES.filter(has);
  const sections = types.flatMap((type) => {
    if (!isObjectType(type) || !ROOTS.includes(type))
      return [`## ${type.name}\n\n${said(type.description)}\n\n${body(type)}`];
    const fields = Object.values(type.getFields());
    return type === schema.getMutationType() ? byCaller(fields) : fields.map((one) => field(one, '##'));
  });
  return [`# ${title}`, ...sections].join('\n\n');
}
