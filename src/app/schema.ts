import '../graphql/types/scalars.ts';
import '../graphql/types/enums.ts';
import '../graphql/types/node.ts';
import {
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
} from 'graphql';
import type { Config } from '../config/config.ts';
import { builder, type AssembleSchema } from '../graphql/builder.ts';
import { countLists } from '../graphql/limits/cost.ts';
import { traced } from '../telemetry/tracing.ts';
import { defineDeclaredDescriptors } from '../features/actions/api/declared-descriptors.ts';
import { descriptorTypes } from '../descriptors/registry.ts';
import { FanfareError } from '../domain/errors.ts';
import { tenantOf, type Tenant, withoutTenant, withoutTenantIn } from '../domain/stored-id.ts';
import { FEATURES, loadApi } from './features.ts';
import { storedInput } from '../core/stored-input.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { plainGlobalId, storedGlobalIds } from '../graphql/global-id.ts';

// Converts between ids with and without tenant: inside, all ids have their tenant; clients never see it.

type Field = GraphQLField<unknown, GraphQLContext>;
type Arguments = Readonly<Record<string, unknown>>;
type Resolver = GraphQLFieldResolver<unknown, GraphQLContext>;
type Show = (tenant: Tenant, value: unknown, context: GraphQLContext) => unknown;

/** Free JSON of the host application, returned unchanged. All other JSON belongs to the server. */
const FREE_JSON: ReadonlySet<string> = new Set(['Member.data', 'Ref.data', 'Interaction.data']);

/** Fields with cursors, which are sealed per tenant. As arguments they are called `after` or `before`. */
export const CURSOR_FIELDS: ReadonlySet<string> = new Set([
  'cursor',
  'startCursor',
  'endCursor',
  'liveCursor',
]);

/**
 * Wraps all fields of a schema so that clients use ids without a tenant: adds the caller's tenant to arguments, and removes
 * it from texts, global ids and errors. Does not modify the schema passed in.
 */
function withTenants(schema: GraphQLSchema): GraphQLSchema {
  const free = freeJson();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    const isRoot = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].includes(
      type,
    );
    for (const field of Object.values(type.getFields()) as Field[]) {
      const show = showAs(field, free.has(`${type.name}.${field.name}`));
      if (isRoot || field.args.length > 0 || show !== null) {
        // The wrapped resolver depends on the caller.
        field.extensions = { ...field.extensions, isPlain: false };
        field.resolve = wrapped(field.resolve ?? defaultFieldResolver, { show, hasErrors: isRoot });
      }
      if (field.subscribe !== undefined)
        field.subscribe = wrapped(field.subscribe, { show: null, hasErrors: true });
    }
  }
  return schema;
}

function freeJson(): ReadonlySet<string> {
  const declared = descriptorTypes().flatMap(({ type, fieldList }) =>
    fieldList.flatMap(({ name, field }) => (field.kind === 'json' ? [`${type}Descriptor.${name}`] : [])),
  );
  return new Set([...FREE_JSON, ...declared]);
}

/** How to convert a field's values; `null`: they contain no ids. */
function showAs({ name, type }: Field, isFree: boolean): Show | null {
  if (CURSOR_FIELDS.has(name)) return showCursor;
  switch (getNamedType(type).name) {
    case 'String':
      return showTexts;
    case 'ID':
      return showGlobalIds;
    case 'JSON':
      return isFree ? null : withoutTenantIn;
    default:
      return null;
  }
}

function showCursor(_tenant: Tenant, cursor: unknown, context: GraphQLContext): unknown {
  return typeof cursor === 'string' ? context.core.cursors.shown(context.identity().userId, cursor) : cursor;
}

function givenCursor(args: Arguments, context: GraphQLContext): Arguments {
  const { cursors } = context.core;
  return ['after', 'before'].reduce((all, name) => {
    const cursor = args[name];
    return typeof cursor === 'string'
      ? { ...all, [name]: cursors.given(context.identity().userId, cursor) }
      : all;
  }, args);
}

function showTexts(tenant: Tenant, value: unknown): unknown {
  if (typeof value === 'string') return withoutTenant(tenant, value);
  return Array.isArray(value) ? value.map((inner: unknown) => showTexts(tenant, inner)) : value;
}

function showGlobalIds(tenant: Tenant, value: unknown): unknown {
  if (typeof value === 'string') return plainGlobalId(tenant, value);
  return Array.isArray(value) ? value.map((inner: unknown) => showGlobalIds(tenant, inner)) : value;
}

function wrapped(
  resolve: Resolver,
  { show, hasErrors }: { readonly show: Show | null; readonly hasErrors: boolean },
): Resolver {
  return (source, args: Arguments, context, info) => {
    const tenant = tenantOf(context.identity().userId);
    if (tenant === null) throw new Error('Tenants are on, and the request has none');
    const finish = show === null ? undefined : (value: unknown) => show(tenant, value, context);
    const fail = (error: unknown): never => {
      throw errorFor(tenant, error);
    };
    try {
      const given = givenCursor(storedGlobalIds(tenant, storedInput(tenant, args)), context);
      const result: unknown = resolve(source, given, context, info);
      if (!(result instanceof Promise)) return finish === undefined ? result : finish(result);
      const shown = finish === undefined ? result : result.then(finish);
      return hasErrors ? shown.catch(fail) : shown;
    } catch (error) {
      return fail(error);
    }
  };
}

/** Errors meant for clients contain ids in the clients' form. */
function errorFor(tenant: Tenant, error: unknown): unknown {
  if (!(error instanceof FanfareError)) return error;
  const { code, message, issues, cause } = error;
  return new FanfareError(code, withoutTenant(tenant, message), {
    issues: issues.map((issue) => ({ ...issue, message: withoutTenant(tenant, issue.message) })),
    ...(cause === undefined ? {} : { cause }),
  });
}

export interface SchemaOptions {
  /** Ids are stored with their tenant. Default: without. */
  readonly tenantClaim?: string | undefined;
  /** Default: as the builder does. */
  readonly assemble?: AssembleSchema;
}

/** The API as a server with this configuration has it. @throws CommandError without packages that a setting needs */
export function schemaOf(config: Config): Promise<GraphQLSchema> {
  const [assemble] = FEATURES.flatMap(({ schema }) => schema?.(config) ?? []);
  return buildSchema({ ...config.auth, ...(assemble === undefined ? {} : { assemble }) });
}

/** The whole API, sorted. */
export async function buildSchema({ tenantClaim, assemble }: SchemaOptions = {}): Promise<GraphQLSchema> {
  await loadApi();
  defineDeclaredDescriptors();
  const assembled = assemble === undefined ? builder.toSchema() : await assemble();
  const schema = countLists(traceRootFields(assembled));
  return tenantClaim === undefined ? schema : withTenants(schema);
}

/** Each query and mutation of a traced operation becomes a span. */
function traceRootFields(schema: GraphQLSchema): GraphQLSchema {
  for (const type of [schema.getQueryType(), schema.getMutationType()])
    for (const field of Object.values(type?.getFields() ?? {})) {
      const { name, resolve } = field;
      if (resolve !== undefined) field.resolve = (...args) => traced(name, {}, () => resolve(...args));
    }
  return schema;
}
