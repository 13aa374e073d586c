import {
  buildSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';

/** The types of hosts are not known here: a host adds them by `fanfare schema --types`. */
const OPEN_INPUT = 'DescriptorInput';
/** What readers are given, whichever mutation needs it. */
const FILTERS = ['FeedFilter', 'NotificationFilter', 'ActionFilter', 'FeedOrder', 'FeedState'];
const SCALARS: Readonly<Record<string, string>> = {
  ...{ ID: 'string', String: 'string', DateTime: 'string' },
  ...{ Int: 'number', Float: 'number', Boolean: 'boolean', JSON: 'unknown' },
};
/** Their descriptions begin with who may call them. */
const OF_OTHERS = /^(?:Admin|Service|Moderator)(?: and \w+)?:/;
/** Of readers, but not for a client: for event streams without headers, and for whole imports. */
const NOT_CALLED = new Set(['createTicket', 'publishActions']);

/** The mutations that a reader calls. */
export function readerMutations(schema: GraphQLSchema): string[] {
  return Object.values(schema.getMutationType()?.getFields() ?? {})
    .filter(({ name, description }) => !OF_OTHERS.test(description ?? '') && !NOT_CALLED.has(name))
    .map(({ name }) => name);
}

/** The module of the client that says what each mutation takes. */
export function clientInputs(printed: string): string {
  const schema = buildSchema(printed);
  const fields = schema.getMutationType()?.getFields() ?? {};
  const mutations = readerMutations(schema).map((name) => ({ name, args: fields[name]?.args ?? [] }));
  const named = new Map<string, GraphQLNamedType>();
  const collect = (type: GraphQLInputType | GraphQLNamedType | undefined): void => {
    if (type === undefined) return;
    const inner = getNamedType(type);
    if (isScalarType(inner) || named.has(inner.name)) return;
    named.set(inner.name, inner);
    if (isInputObjectType(inner) && inner.name !== OPEN_INPUT)
      for (const field of Object.values(inner.getFields())) collect(field.type);
  };
  for (const { args } of mutations) for (const { type } of args) collect(type);
  for (const name of FILTERS) collect(schema.getType(name));
  named.delete(OPEN_INPUT);
  const types = [...named.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(declared);
  const taken = mutations.map(({ name, args }) => `  ${name}: {${args.map(member).join('')}\n  };`);
  const texts = mutations.map(
    ({ name, args }) =>
      `  ${name}: {${args.map((one) => ` ${one.name}: '${String(one.type)}',`).join('')} },`,
  );
  return `// Written by npm run schema, from the schema. A change here is lost.

import type { ${OPEN_INPUT} } from '../own-types.ts';

${types.join('\n\n')}

/** What each mutation of a reader takes. */
export interface MutationArguments {
${taken.join('\n')}
}

/** The same, as a document declares it. */
export const MUTATION_ARGUMENTS = {
${texts.join('\n')}
} as const satisfies Record<keyof MutationArguments, Readonly<Record<string, string>>>;
`;
}

function declared(type: GraphQLNamedType): string {
  const head = `${comment(type.description, '')}export type ${type.name} =`;
  if (isEnumType(type))
    return `${head} ${type
      .getValues()
      .map(({ name }) => `'${name}'`)
      .join(' | ')};`;
  if (!isInputObjectType(type)) throw new Error(`${type.name} is no input`);
  const all = Object.values(type.getFields());
  if (!type.isOneOf) return `${head} {${all.map(member).join('')}\n};`;
  const one = all.map((field) => `\n  | {${member({ ...field, isOne: true })} }`);
  return `${head}${one.join('')};`;
}

function member(field: (GraphQLArgument | GraphQLInputField) & { readonly isOne?: boolean }): string {
  const isRequired = field.isOne === true || (isNonNullType(field.type) && field.defaultValue === undefined);
  const type = textOf(field.type);
  return `${comment(field.description, '    ')}\n    readonly ${field.name}${isRequired ? ': ' : '?: '}${type}${isRequired || type === 'unknown' ? '' : ' | null'};`;
}

function comment(description: string | null | undefined, indent: string): string {
  if (description == null || description === '') return '';
  return indent === '' ? `/** ${description} */\n` : `\n${indent}/** ${description} */`;
}

function textOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return textOf(type.ofType);
  if (!isListType(type)) return SCALARS[type.name] ?? type.name;
  const inner = textOf(type.ofType);
  return `readonly ${inner.includes('|') ? `(${inner})` : inner}[]`;
}
