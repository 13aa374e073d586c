import { OperationTypeNode, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { createContext, type GraphQLContext } from '../../graphql/context.ts';
import { apiError, documentError } from '../../graphql/errors.ts';
import { operationCost } from '../../graphql/limits/cost.ts';
import { findOperation, isIntrospection } from '../../graphql/limits/document-limits.ts';
import { variablesFault } from '../../graphql/limits/variables.ts';
import { localeFor } from '../../descriptors/registry.ts';
import type { Answer } from '../../graphql/rendering/answer.ts';
import type { Core } from '../../features/core.ts';
import type { Caller } from '../identity/auth.ts';
import type { SocketFrames } from '../exchange/socket-frames.ts';
import { refusalFor, type RateLimits, type ShareState } from '../limits/rate-limit.ts';

interface OperationParams {
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What is known about an operation before it runs, over HTTP or a socket. */
export interface RequestContext {
  readonly caller: Caller;
  /** On the `performance.now()` clock. */
  readonly startedAt: number;
  /** Whether the caller can receive a stream of results. */
  readonly mayStream: boolean;
  /** Last event of a stream the client has received, sent by browsers when they reconnect. */
  readonly lastEventId?: string | undefined;
  /** The client's trace, from the header of this name. */
  readonly traceparent?: string | undefined;
  /** Preferred languages, as in Accept-Language. */
  readonly languages?: string | undefined;
  /** Rejects the request whatever it asks; absent: not rejected. */
  readonly refusal?: Error | undefined;
  /** What the answer to a query or mutation takes. */
  readonly answer: Answer;
  /** Sends serialised results on a socket; absent: not on a socket. */
  readonly frames?: SocketFrames | undefined;
  /** The caller's use of their rate limits, for the headers of the answer. */
  readonly shares?: ShareState[];
  /** Set once the document has been parsed. */
  document?: DocumentNode;
  params?: OperationParams;
  /** Set if the operation has already run, so that Yoga only has to answer. */
  outcome?: Outcome;
}

/** Outcome of an operation. */
export type Outcome = { readonly result: ExecutionResult } | { readonly error: unknown };

export interface OperationGuard {
  readonly core: Core;
  readonly schema: GraphQLSchema;
  readonly maxCost: number;
  readonly rateLimits: RateLimits | undefined;
}

/** Queries and mutations are never aborted: started work is finished. */
const NEVER = new AbortController().signal;

/**
 * Final check before an operation runs: may this caller run it? Returns its context.
 * Rejects with UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT or RATE_LIMITED.
 */
export function openOperation(
  guard: OperationGuard,
  request: RequestContext,
): GraphQLContext | Promise<GraphQLContext> {
  const { caller, document, params, answer } = request;
  const operation = document === undefined ? null : findOperation(document, params?.operationName);
  if (document === undefined || operation === null)
    throw apiError('BAD_USER_INPUT', 'The document must contain exactly one operation with this name');
  if (caller.identity === null && !isIntrospection(operation))
    throw apiError('UNAUTHENTICATED', 'This requires a token: authorization: Bearer <token>');

  const isSubscription = operation.definition.operation === OperationTypeNode.SUBSCRIPTION;
  if (caller.byTicket === true && !isSubscription)
    throw apiError('FORBIDDEN', 'A ticket can only open event streams');
  if (isSubscription && !request.mayStream)
    throw apiError('BAD_USER_INPUT', 'Subscriptions require accept: text/event-stream, or a WebSocket', {
      status: 406,
    });

  const variables = params?.variables ?? {};
  const fault = variablesFault(guard.schema, document, operation, variables);
  if (fault !== null) throw documentError(fault);
  const cost = operationCost('most', guard.schema, operation, variables);
  if (cost > guard.maxCost)
    throw documentError(
      `The operation requests up to ${String(cost)} objects, at most ${String(guard.maxCost)} are allowed`,
    );

  const context = createContext(guard.core, caller.identity, NEVER, {
    locale: localeFor(request.languages),
    answer,
  });
  const { rateLimits } = guard;
  // No await when nothing is counted.
  if (rateLimits?.hasCost !== true) return context;
  const usual = operationCost('usual', guard.schema, operation, variables);
  return countCost(rateLimits, request, usual).then(() => context);
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
