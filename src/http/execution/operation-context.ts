import { OperationTypeNode, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { createContext, type GraphQLContext } from '../../graphql/context.ts';
import { apiError, documentError } from '../../graphql/errors.ts';
import { operationCost } from '../../graphql/limits/cost.ts';
import { findOperation, isIntrospection } from '../../graphql/limits/operation.ts';
import { variablesFault } from '../../graphql/limits/variables.ts';
import { localeFor } from '../../descriptors/registry.ts';
import type { Services } from '../../services/create-services.ts';
import type { Caller } from '../identity/caller.ts';
import type { SocketFrames } from '../exchange/socket-frames.ts';
import { refusalFor, type RateLimits, type ShareState } from '../limits/rate-limit.ts';

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
  /** The last event of a stream that the client has seen, as browsers send it when they connect again. */
  readonly lastEventId?: string | undefined;
  /** The trace that the client has begun, as in the header of this name. */
  readonly traceparent?: string | undefined;
  /** The languages the client prefers, as in Accept-Language. */
  readonly languages?: string | undefined;
  /** Why the request is refused whatever it asks; absent: it is not. */
  readonly refusal?: Error | undefined;
  /** Takes what has been written to a socket; absent: what comes by no socket. */
  readonly frames?: SocketFrames | undefined;
  /** How far the caller has used its shares, for the headers of the answer. */
  readonly shares?: ShareState[];
  /** Set once the document has been parsed. */
  document?: DocumentNode;
  params?: OperationParams;
  /** Set where the operation has run already, and Yoga only has to answer. */
  outcome?: Outcome;
}

/** What an operation came to. */
export type Outcome = { readonly result: ExecutionResult } | { readonly error: unknown };

export interface OperationGuard {
  readonly services: Services;
  readonly schema: GraphQLSchema;
  readonly maxCost: number;
  readonly rateLimits: RateLimits | undefined;
}

/** Nothing aborts a query or mutation: what it started is finished. */
const NEVER = new AbortController().signal;

/**
 * The last thing before an operation runs: may this caller run it? Gives its context.
 * Rejects with UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT or RATE_LIMITED.
 */
export function openOperation(
  guard: OperationGuard,
  request: RequestContext,
): GraphQLContext | Promise<GraphQLContext> {
  const { caller, document, params } = request;
  const operation = document === undefined ? null : findOperation(document, params?.operationName);
  if (document === undefined || operation === null)
    throw apiError('BAD_USER_INPUT', 'The document has no such operation, or several');
  if (caller.identity === null && !isIntrospection(operation))
    throw apiError('UNAUTHENTICATED', 'This needs a token: authorization: Bearer <token>');

  const isSubscription = operation.definition.operation === OperationTypeNode.SUBSCRIPTION;
  if (caller.byTicket === true && !isSubscription)
    throw apiError('FORBIDDEN', 'A ticket opens event streams and nothing else');
  if (isSubscription && !request.mayStream)
    throw apiError('BAD_USER_INPUT', 'Subscriptions need accept: text/event-stream, or a WebSocket', {
      status: 406,
    });

  const variables = params?.variables ?? {};
  const fault = variablesFault(guard.schema, document, operation, variables);
  if (fault !== null) throw documentError(fault);
  const cost = operationCost(guard.schema, operation, variables);
  if (cost > guard.maxCost)
    throw documentError(
      `The operation asks for up to ${String(cost)} objects, at most ${String(guard.maxCost)} are allowed`,
    );

  const context = createContext(guard.services, caller.identity, NEVER, {
    locale: localeFor(request.languages),
  });
  const { rateLimits } = guard;
  // Nothing is waited for where nothing is counted.
  return rateLimits?.hasCost === true ? countCost(rateLimits, request, cost).then(() => context) : context;
}

async function countCost(
  rateLimits: RateLimits,
  { caller, shares }: RequestContext,
  cost: number,
): Promise<void> {
  const counted = await rateLimits.countCost(caller, cost);
  shares?.push(...counted);
  const refusal = refusalFor(counted);
  if (refusal !== null) throw refusal;
}
