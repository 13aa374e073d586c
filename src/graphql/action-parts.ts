import {
  GraphQLSchema,
  isInterfaceType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
} from 'graphql';
import { isShared } from './shared-field.ts';

/** Shows refs also that are only followed, which no stamp of the directory tells of. */
const UNSTAMPED = new Set(['summaryParts']);

/** Kept by revision of the action and stamps of the directory: it depends on nothing else, but for what is below it. */
export function isKept(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>): boolean {
  return isShared(type, field) && !UNSTAMPED.has(field.name);
}

export function fieldOf(type: GraphQLNamedType, name: string): GraphQLField<unknown, unknown> | null {
  return isObjectType(type) || isInterfaceType(type) ? (type.getFields()[name] ?? null) : null;
}

/** The schema in which the fields of an action are those to begin with. */
export function schemaOfAction(schema: GraphQLSchema): GraphQLSchema {
  const action = schema.getType(ACTION);
  if (!isObjectType(action)) throw new Error('The schema has no actions');
  return new GraphQLSchema({ ...schema.toConfig(), query: action, mutation: null, subscription: null });
}

export const ACTION = 'Action';
