import {
  GraphQLSchema,
  isInterfaceType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
} from 'graphql';
import { isShared } from './shared-field.ts';

/** Also depends on refs known only from being followed, which the directory stamp does not cover. */
const UNSTAMPED: ReadonlySet<string> = new Set(['summaryParts']);

/** Whether a field's result is cached by the action's revision and directory stamps: it depends on nothing else. */
export function isKept(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>): boolean {
  return isShared(type, field) && !UNSTAMPED.has(field.name);
}

export function fieldOf(type: GraphQLNamedType, name: string): GraphQLField<unknown, unknown> | null {
  return isObjectType(type) || isInterfaceType(type) ? (type.getFields()[name] ?? null) : null;
}

/** A schema whose root fields are the fields of an action. */
export function schemaOfAction(schema: GraphQLSchema): GraphQLSchema {
  const action = schema.getType(ACTION);
  if (!isObjectType(action)) throw new Error('The schema has no actions');
  return new GraphQLSchema({ ...schema.toConfig(), query: action, mutation: null, subscription: null });
}

export const ACTION = 'Action';
