import { lexicographicSortSchema, printSchema, type GraphQLSchema } from 'graphql';
import type { Locale } from '../descriptors/locale.ts';
import type { ReaderSession } from '../feed/session/reader-session.ts';
import { summaryOf, type Described } from '../graphql/sentences.ts';
import { buildSchema, schemaOf } from './schema.ts';
import { declarationOf } from '../features/actions/api/descriptor.ts';

// Everything a server needs to answer its own process, loaded as one module.

export { runOperation } from '../graphql/run-operation.ts';
export { schemaOf };

/** An action as one sentence; for undeclared types, the name of the type. */
export async function sentenceOfAction(
  session: ReaderSession,
  action: Described,
  locale: Locale,
): Promise<string> {
  const descriptor = declarationOf(action.descriptor);
  return descriptor === undefined ? action.descriptor.type : summaryOf(session, action, descriptor, locale);
}

/** The served schema as SDL, sorted, so that a diff shows only real changes. */
export async function printedSchema(
  schema: GraphQLSchema | Promise<GraphQLSchema> = buildSchema(),
): Promise<string> {
  return `${printSchema(lexicographicSortSchema(await schema))}\n`;
}
