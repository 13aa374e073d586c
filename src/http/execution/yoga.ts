import type { DocumentNode, GraphQLSchema } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { CompiledExecution } from './compiled-execution.ts';
import type { CorsOrigins } from '../../config/config.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import type { Core } from '../../features/core.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { corsFor } from '../exchange/cors.ts';
import { graphiqlOf, pagePolicy } from './graphiql.ts';
import type { HttpLimits } from '../limits/limits.ts';
import { LiveRendering } from './live-rendering.ts';
import type { RequestObserver } from '../exchange/respond.ts';
import { openOperation, type RequestContext } from './operation-context.ts';
import { documentGuard, requestFigures, requestGuard } from './plugins/request-guard.ts';
import { compiledQueries } from './plugins/compiled-queries.ts';
import type { PartCache } from './shared-parts/part-cache.ts';
import { SharedExecution } from './shared-parts/shared-execution.ts';
import { liveSubscriptions, type SubscriptionQuota } from './plugins/live-subscriptions.ts';
import { tracedOperations } from './plugins/traced-operations.ts';
import {
  ID_PARAMS,
  type PersistedOperations,
  noPersistedDocuments,
  persistedDocuments,
} from './persisted-operations.ts';
import type { RateLimits } from '../limits/rate-limit.ts';
import { ShortWay } from './short-way.ts';

export interface GraphqlAppOptions {
  readonly schema: GraphQLSchema;
  readonly core: Core;
  readonly graphiql: boolean;
  readonly pageToken: string | undefined;
  readonly introspection: boolean;
  readonly limits: HttpLimits;
  readonly corsOrigins: CorsOrigins;
  /** Cache of rendered parts. */
  readonly parts: PartCache;
  readonly quota: SubscriptionQuota;
  readonly rateLimits: RateLimits | undefined;
  readonly persisted: PersistedOperations | undefined;
  readonly observer: RequestObserver;
  readonly metrics: Metrics;
}

export type YogaApp = YogaServerInstance<RequestContext, GraphQLContext>;

export interface GraphqlApp {
  /** GraphQL over HTTP, and for sockets as `getEnveloped`. Does not handle tokens: the caller is in the server context. */
  readonly yoga: YogaApp;
  /** Fast path for plain HTTP requests. */
  readonly shortWay: ShortWay;
}

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

export function createGraphqlApp(options: GraphqlAppOptions): GraphqlApp {
  const { core, introspection, limits, rateLimits, persisted, observer } = options;
  const { schema } = options;
  const sharing = new SharedExecution(schema, options.parts);
  const compiledExecution = new CompiledExecution({}, sharing);
  const guard = { core, schema, maxCost: limits.maxCost, rateLimits };
  const open = (request: RequestContext): GraphQLContext | Promise<GraphQLContext> => {
    const opened = openOperation(guard, request);
    return opened instanceof Promise ? opened.then(withOwnMethods) : withOwnMethods(opened);
  };
  const documents = documentCache<DocumentNode>();
  const { corsOrigins } = options;
  const shortWay = new ShortWay({
    ...{ documents, schema, open, corsOrigins, persisted, observer },
    execution: compiledExecution,
  });
  const yoga = createYoga<RequestContext, GraphQLContext>({
    schema,
    context: open,
    graphqlEndpoint: '/graphql',
    cors: corsFor(corsOrigins),
    ...(options.graphiql ? graphiqlOf(options.pageToken) : { graphiql: false }),
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
      requestGuard({ introspection, json: limits.json }),
      persisted === undefined ? noPersistedDocuments() : persistedDocuments(persisted),
      documentGuard({ introspection, limits }),
      compiledQueries(compiledExecution),
      tracedOperations(),
      liveSubscriptions({ ...options, rendering: new LiveRendering(compiledExecution, limits) }),
      requestFigures(observer),
      ...(options.graphiql ? [pagePolicy()] : []),
    ],
  });
  return { yoga, shortWay };
}
