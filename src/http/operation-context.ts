import { OperationTypeNode, type DocumentNode, type GraphQLSchema } from 'graphql';
import { createContext, type GraphQLContext } from '../graphql/context.ts';
import { apiError, documentError } from '../graphql/errors.ts';
import { operationCost } from '../graphql/limits/cost.ts';
import { findOperation, isIntrospection } from '../graphql/limits/operation.ts';
import type { Services } from '../services/services.ts';
import { rateLimitKey, type Caller } from './caller.ts';
import type { RateLimiter } from './rate-limit.ts';

interface OperationParams {
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What is known of an operation before it runs, over HTTP or a socket. */
export interface RequestContext {
  readonly caller: Caller;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** Whether the caller can be sent one event after the other. */
  readonly mayStream: boolean;
  /** Why the request is refused whatever it asks; absent: it is not. */
  readonly refusal?: Error | undefined;
  /** Set once the document has been parsed. */
  document?: DocumentNode;
  params?: OperationParams;
}

export interface OperationGuard {
  readonly services: Services;
  readonly schema: GraphQLSchema;
  readonly maxCost: number;
  readonly rateLimiter: RateLimiter | undefined;
}

/** Nothing aborts a query or mutation: what it started is finished. */
const NEVER = new AbortController().signal;

/**
 * The last thing before an operation runs: may this caller run it, and now? Gives its context.
 * Rejects with UNAUTHENTICATED, BAD_USER_INPUT or RATE_LIMITED.
 */
export async function openOperation(guard: OperationGuard, request: RequestContext): Promise<GraphQLContext> {
  const { caller, document, params } = request;
  const operation = document === undefined ? null : findOperation(document, params?.operationName);
  if (operation === null) throw apiError('BAD_USER_INPUT', 'The document has no such operation, or several');
  if (caller.identity === null && !isIntrospection(operation))
    throw apiError('UNAUTHENTICATED', 'This needs a token: authorization: Bearer <token>');

  if (operation.definition.operation === OperationTypeNode.SUBSCRIPTION && !request.mayStream)
    throw apiError('BAD_USER_INPUT', 'Subscriptions need accept: text/event-stream, or a WebSocket', {
      status: 406,
    });

  const cost = operationCost(guard.schema, operation, params?.variables ?? {});
  if (cost > guard.maxCost)
    throw documentError(
      `The operation asks for up to ${String(cost)} objects, at most ${String(guard.maxCost)} are allowed`,
    );

  const waitMs = (await guard.rateLimiter?.consume(rateLimitKey(caller))) ?? null;
  if (waitMs !== null) throw rateLimited('Too many requests', waitMs);
  return createContext(guard.services, caller.identity, NEVER);
}

function rateLimited(message: string, waitMs: number): Error {
  const seconds = String(Math.ceil(waitMs / 1_000));
  return apiError('RATE_LIMITED', `${message}, try again in ${seconds} s`, {
    status: 429,
    headers: { 'Retry-After': seconds },
  });
}
