import SchemaBuilder from '@pothos/core';
import type { GraphQLSchema } from 'graphql';
import type { GraphQLContext } from './context.ts';

/** The types are in types/, one file per domain type, and are assembled by schema.ts. */
export const builder = new SchemaBuilder<{
  Context: GraphQLContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: unknown };
  };
}>({ defaultFieldNullability: false });

builder.queryType({ description: 'All queries.' });
builder.mutationType({
  description: 'All mutations. Each commits with one atomic write.',
});
builder.subscriptionType({ description: 'All subscriptions.' });

/** Makes a schema of all fields that the builder has by then. */
export type AssembleSchema = () => Promise<GraphQLSchema>;
