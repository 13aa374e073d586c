import { lexicographicSortSchema, printSchema, type GraphQLSchema } from 'graphql';
import { buildSchema } from './schema.ts';

/** The served schema as SDL, sorted, so that a diff shows only real changes. */
export function printedSchema(schema: GraphQLSchema = buildSchema()): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
