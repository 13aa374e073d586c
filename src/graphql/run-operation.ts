import { graphql, type GraphQLError, type GraphQLSchema } from 'graphql';
import type { Identity } from '../domain/viewer.ts';
import type { Locale } from '../descriptors/locale.ts';
import type { Core } from '../core/core.ts';
import { createContext } from './context.ts';
import { toApiError } from './errors.ts';

/** The answer to an operation, as over HTTP. */
export interface Answer<T> {
  readonly data: T | null;
  /** Empty without errors. */
  readonly errors: readonly AnsweredError[];
}

export interface AnsweredError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  /** Contains the code, and the issues of bad input. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

export interface PreparedOperation {
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly identity: Identity;
  readonly locale: Locale;
}

/** Operations of the process itself are never aborted. */
const NEVER = new AbortController().signal;

/** Runs a query or mutation for a trusted caller in this process, without the limits for clients. */
export async function runOperation<T>(
  schema: GraphQLSchema,
  core: Core,
  { document, variables, identity, locale }: PreparedOperation,
  policy: Parameters<typeof toApiError>[1],
): Promise<Answer<T>> {
  const { data, errors = [] } = await graphql({
    schema,
    source: document,
    variableValues: variables,
    contextValue: createContext(core, identity, NEVER, { locale }),
  });
  return {
    // Plain objects, as clients get them.
    data: (data == null ? null : JSON.parse(JSON.stringify(data))) as T | null,
    errors: errors.map((error) => answered(toApiError(error, policy))),
  };
}

/** Removes the extensions that are instructions for the HTTP layer. */
function answered({
  message,
  path,
  extensions: { http: _http, ...extensions },
}: GraphQLError): AnsweredError {
  return { message, ...(path === undefined ? {} : { path }), extensions };
}
