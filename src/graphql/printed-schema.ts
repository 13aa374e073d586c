import { lexicographicSortSchema, printSchema, type GraphQLSchema } from 'graphql';
import { buildSchema } from './schema.ts';

/** The served schema as SDL, sorted, so that a diff shows only real changes. */
export async function printedSchema(
  schema: GraphQLSchema | Promise<GraphQLSchema> = buildSchema(),
): Promise<string> {
  return `${printSchema(lexicographicSortSchema(await schema))}\n`;
}
