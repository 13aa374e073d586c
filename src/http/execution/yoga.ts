import { OperationTypeNode, type DocumentNode } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { CompiledExecution, compiledQueries } from './compiled-execution.ts';
import { createContext, type GraphQLContext } from '../../graphql/context.ts';
import { apiError, documentError } from '../../graphql/errors.ts';
import { operationCost } from '../../graphql/limits/cost.ts';
import { findOperation, isIntrospection } from '../../graphql/limits/document-limits.ts';
import { variablesFault } from '../../graphql/limits/variables.ts';
import type { HttpContext } from '../http-context.ts';
import { corsFor } from '../exchange/cors.ts';
import { createOriginLog } from '../../telemetry/origin-log.ts';
import { graphiqlOf, pagePolicy } from './graphiql.ts';
import { LiveRendering } from './live-rendering.ts';
import type { RequestContext } from './operation-context.ts';
import { documentGuard, requestFigures, requestGuard, tracedOperations } from './plugins/request-guard.ts';
import type { PartCache } from './shared-parts/part-cache.ts';
import { SharedExecution } from './shared-parts/shared-execution.ts';
import { liveSubscriptions } from './plugins/live-subscriptions.ts';
import { ID_PARAMS, noPersistedDocuments, persistedDocuments } from './persisted-operations.ts';
import { refusalFor, type RateLimits } from '../limits/rate-limit.ts';
import { ShortWay } from './short-way.ts';

export type YogaApp = YogaServerInstance<RequestContext, GraphQLContext>;

/** Upper bound on the text of cached documents, in characters. */
const DOCUMENT_CACHE_LENGTH = 4 * 1024 * 1024;
const DOCUMENT_CACHE_SIZE = 1_000;

function documentCache<V extends object>(): LRUCache<string, V> {
  return new LRUCache({
    max: DOCUMENT_CACHE_SIZE,
    maxSize: DOCUMENT_CACHE_LENGTH,
    sizeCalculation: (_value, text) => Math.max(1, text.length),
  });
}

/** Yoga copies a context's own properties. */
function withOwnMethods(context: GraphQLContext): GraphQLContext {
  const { core, signal, locale, answer } = context;
  return {
    core,
    signal,
    locale,
    answer,
    identity: () => context.identity(),
    session: () => context.session(),
    mutate: (work) => context.mutate(work),
  };
}

/**
 * GraphQL over HTTP, and for sockets as `getEnveloped`; `shortWay` is its fast path for plain requests. Does not handle tokens:
 * the caller is in the server context.
 */
export function createGraphqlApp(http: HttpContext, parts: PartCache) {
  const { schema, limits, persisted, observer, corsOrigins } = http;
  const execution = new CompiledExecution({}, new SharedExecution(schema, parts));
  const open = (request: RequestContext): GraphQLContext | Promise<GraphQLContext> => {
    const opened = openOperation(http, request);
    return opened instanceof Promise ? opened.then(withOwnMethods) : withOwnMethods(opened);
  };
  const documents = documentCache<DocumentNode>();
  const shortWay = new ShortWay(http, { documents, open, execution });
  const yoga = createYoga<RequestContext, GraphQLContext>({
    schema,
    context: open,
    graphqlEndpoint: '/graphql',
    cors: corsFor(corsOrigins, createOriginLog(http.logger)),
    ...(http.graphiql ? graphiqlOf(http.pageToken) : { graphiql: false }),
    landingPage: false,
    batching: false,
    extraParamNames: persisted === undefined ? [] : [...ID_PARAMS],
    multipart: false,
    // It would log masked errors, which the observer reports anyway.
    logging: false,
    maxRequestBodySize: limits.maxBodyBytes,
    maskedErrors: { maskError: observer.presentError },
    parserAndValidationCache: { documentCache: documents, errorCache: documentCache() },
    plugins: [
      shortWay.plugin(),
      requestGuard(http),
      persisted === undefined ? noPersistedDocuments() : persistedDocuments(persisted),
      documentGuard(http),
      compiledQueries(execution),
      tracedOperations(http),
      liveSubscriptions(http, new LiveRendering(execution, limits)),
      requestFigures(observer),
      ...(http.graphiql ? [pagePolicy()] : []),
    ],
  });
  return { yoga, shortWay };
}

/** Queries and mutations are never aborted: started work is finished. */
const NEVER = new AbortController().signal;

/**
 * Final check before an operation runs: may this caller run it? Returns its context.
 * Rejects with UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT or RATE_LIMITED.
 */
function openOperation(http: HttpContext, request: RequestContext): GraphQLContext | Promise<GraphQLContext> {
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
  const fault = variablesFault(http.schema, document, operation, variables);
  if (fault !== null) throw documentError(fault);
  const cost = operationCost('most', http.schema, operation, variables);
  if (cost > http.limits.maxCost)
    throw documentError(
      `The operation requests up to ${String(cost)} objects, at most ${String(http.limits.maxCost)} are allowed`,
    );

  const context = createContext(http.core, caller.identity, NEVER, {
    locale: request.locale,
    answer,
  });
  const { rateLimits } = http;
  // No await when nothing is counted.
  if (rateLimits?.hasCost !== true) return context;
  const usual = operationCost('usual', http.schema, operation, variables);
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
