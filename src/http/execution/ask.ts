import { execute, parse, validate, type DocumentNode, type GraphQLSchema } from 'graphql';
import type { Locale } from '../../descriptors/locale.ts';
import type { Identity } from '../../domain/viewer.ts';
import { createContext } from '../../graphql/context.ts';
import { operationCost } from '../../graphql/limits/cost.ts';
import { findOperation } from '../../graphql/limits/document-limits.ts';
import { onceFor } from '../../lib/once-for.ts';
import type { HttpContext } from '../http-context.ts';
import type { Caller } from '../identity/auth.ts';
import { refusalFor } from '../limits/rate-limit.ts';
import { untilEnd } from './plugins/request-guard.ts';

export interface Question {
  /** A query; one of few, since each is kept once it is parsed. */
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** For whom it is read. */
  readonly identity: Identity;
  readonly locale: Locale;
  /** For whom it is counted. */
  readonly caller: Caller;
}

const documentsOf = onceFor((_schema: GraphQLSchema) => new Map<string, DocumentNode>());

/**
 * The data of a query, for a part that shows them in another form: so it shows what the API shows, and costs what it costs.
 * @throws the first error of the answer; RATE_LIMITED
 */
export async function ask<T>(http: HttpContext, question: Question): Promise<T> {
  const { schema, core, answers, rateLimits } = http;
  const { document: text, variables, identity, locale, caller } = question;
  const document = parsed(schema, text);
  const operation = findOperation(document, null);
  if (operation === null) throw new Error('A part asks one query at a time');
  if (rateLimits?.hasCost === true) {
    const cost = operationCost('usual', schema, operation, variables);
    const refusal = refusalFor(await rateLimits.countCost(caller, cost));
    if (refusal !== null) throw refusal;
  }
  const { answer, room } = answers.open(caller);
  using _room = room;
  const contextValue = createContext(core, identity, NEVER, { locale, answer });
  const args = { schema, document, contextValue, variableValues: variables };
  const { data, errors } = await untilEnd(args, http, execute(args));
  const [error] = errors ?? [];
  if (error !== undefined) throw error.originalError ?? error;
  return data as T;
}

const NEVER = new AbortController().signal;

function parsed(schema: GraphQLSchema, text: string): DocumentNode {
  const documents = documentsOf(schema);
  const known = documents.get(text);
  if (known !== undefined) return known;
  const document = parse(text, { noLocation: true });
  const [fault] = validate(schema, document);
  if (fault !== undefined) throw new Error(`The query of a part is invalid: ${fault.message}`);
  documents.set(text, document);
  return document;
}
