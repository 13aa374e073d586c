import { lexicographicSortSchema, printSchema, type GraphQLSchema } from 'graphql';
import { buildSchema } from './schema.ts';

/** The schema as it is served, in SDL, sorted, so that a diff shows nothing but changes. */
export function printedSchema(schema: GraphQLSchema = buildSchema()): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
