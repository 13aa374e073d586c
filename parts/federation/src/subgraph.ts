import '@pothos/plugin-directives';
import '@pothos/plugin-federation';
import SchemaBuilder, { BasePlugin, type PothosTypeConfig, type SchemaTypes } from '@pothos/core';
import {
  isInputObjectType,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLSchema,
  type GraphQLUnionType,
} from 'graphql';
import { requireOneOf } from '../../../src/core/validate.ts';
import { badInput } from '../../../src/domain/errors.ts';
import { getAction } from '../../../src/feed/page/read-actions.ts';
import { Action } from '../../../src/features/actions/api/action.ts';
import { Member } from '../../../src/features/directory/api/member.ts';
import { Ref } from '../../../src/features/directory/api/ref.ts';
import { getRef, readMember } from '../../../src/features/directory/read-directory.ts';
import { builder } from '../../../src/graphql/builder.ts';
import type { GraphQLContext } from '../../../src/graphql/context.ts';
import { parseActionId } from '../../../src/graphql/global-id.ts';
import type { ListSize } from '../../../src/graphql/limits/cost.ts';
import type { ListArgument } from '../../../src/graphql/limits/variables.ts';

/** Upper bound on representations of one request: a gateway asks for all of a list at once. */
export const MAX_REPRESENTATIONS = 1_000;

type Path = readonly (string | number)[];

interface Entity {
  /** The field that other subgraphs know it by. */
  readonly key: string;
  /** `null`: the viewer may not see it, or there is none. Those of one request are loaded together. */
  readonly load: (key: string, context: GraphQLContext, path: Path) => Promise<object | null>;
}

const ENTITIES: ReadonlyMap<unknown, Entity> = new Map<unknown, Entity>([
  [
    'Action',
    { key: 'id', load: (id, context, path) => getAction(context.session(), parseActionId(id, path)) },
  ],
  ['Member', { key: 'memberId', load: (id, context) => readMember(context.session(), id) }],
  ['Ref', { key: 'refId', load: (id, context) => getRef(context.session(), id) }],
]);

/** The resolver of the package, which calls this, answers all entities with the first fault of one: ours takes its place. */
const UNUSED = { resolveReference: () => null };

/** The schema, and what a gateway asks a subgraph. */
export function subgraph(): GraphQLSchema {
  builder.asEntity(Action, { ...UNUSED, key: builder.selection<{ id: string }>('id') });
  builder.asEntity(Member, { ...UNUSED, key: builder.selection<{ memberId: string }>('memberId') });
  builder.asEntity(Ref, { ...UNUSED, key: builder.selection<{ refId: string }>('refId') });
  const { options } = builder;
  const { plugins = [] } = options;
  // Only here, so that other schemas of this process are as they would be without.
  options.plugins = [...plugins, 'directives', 'federation', PLUGIN];
  try {
    return withOneOf(withOwnRoots(builder.toSubGraphSchema({})));
  } finally {
    options.plugins = plugins;
  }
}

const PLUGIN = 'fanfareSubgraph';

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- Pothos has its types there.
  namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      [PLUGIN]: BasePlugin<Types>;
    }
  }
}

/** What composition needs to be different. */
class SubgraphPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  /** Other subgraphs have pages, too. */
  override onTypeConfig(config: PothosTypeConfig): PothosTypeConfig {
    if (config.kind !== 'Object' || config.name !== 'PageInfo') return config;
    return { ...config, pothosOptions: { ...config.pothosOptions, shareable: true } };
  }

  /** Composition does not know the directive `oneOf`, so it is not in the schema that gateways get. */
  override afterBuild(schema: GraphQLSchema): GraphQLSchema {
    const oneOf = Object.values(schema.getTypeMap()).filter(
      (type) => isInputObjectType(type) && type.isOneOf,
    );
    for (const type of oneOf) Object.assign(type, { isOneOf: false });
    schema.extensions = { ...schema.extensions, oneOf: oneOf.map(({ name }) => name) };
    return schema;
  }
}

SchemaBuilder.registerPlugin(PLUGIN, SubgraphPlugin);

/** The server checks it all the same. */
function withOneOf(schema: GraphQLSchema): GraphQLSchema {
  const { oneOf } = schema.extensions as { readonly oneOf: readonly string[] };
  for (const name of oneOf) Object.assign(schema.getType(name) ?? {}, { isOneOf: true });
  return schema;
}

type Field = GraphQLField<unknown, GraphQLContext>;

function withOwnRoots(schema: GraphQLSchema): GraphQLSchema {
  const { _entities: entities, _service: service } = schema.getQueryType()?.getFields() as Record<
    string,
    Field
  >;
  const [representations] = entities?.args ?? [];
  if (entities === undefined || service === undefined || representations === undefined)
    throw new Error('The schema of a subgraph has no fields for gateways');
  representations.extensions = { maxEntries: MAX_REPRESENTATIONS } satisfies ListArgument;
  const size: ListSize = { lengthOf: representations.name, max: MAX_REPRESENTATIONS };
  entities.extensions = { size };
  entities.resolve = (_root, args: { readonly representations: readonly unknown[] }, context) =>
    args.representations.map((one, at) => entityOf(one, context, ['representations', at]));
  const { resolveType } = schema.getType('Node') as GraphQLInterfaceType;
  (schema.getType('_Entity') as GraphQLUnionType).resolveType = resolveType;
  const { resolve } = service;
  service.resolve = (root, args, context, info) => {
    requireOneOf(context.identity(), ['service', 'admin']);
    return resolve?.(root, args, context, info);
  };
  return schema;
}

/** Each is answered, or refused, on its own. */
async function entityOf(given: unknown, context: GraphQLContext, path: Path): Promise<object | null> {
  if (typeof given !== 'object' || given === null)
    throw badInput('Must be an object with a __typename and a key', path);
  const { __typename: name } = given as Readonly<Record<string, unknown>>;
  const entity = ENTITIES.get(name);
  if (entity === undefined)
    throw badInput(`Must have one of these as its __typename: ${[...ENTITIES.keys()].join(', ')}`, path);
  const key = (given as Readonly<Record<string, unknown>>)[entity.key];
  if (typeof key !== 'string') throw badInput(`Must have the text ${entity.key}`, path);
  return entity.load(key, context, path);
}
