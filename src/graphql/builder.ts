import SchemaBuilder from '@pothos/core';
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

builder.queryType({ description: 'Everything that can be read.' });
builder.mutationType({
  description: 'Everything that can be changed. Each mutation commits with one atomic write.',
});
builder.subscriptionType({ description: 'Everything that can be watched.' });
