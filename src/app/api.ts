import type { Config } from '../config/config.ts';
import type { RedisParts } from '../connections/redis-parts.ts';
import type { AuthOptions } from '../http/identity/auth.ts';
import type { DemoPerson } from '../http/pages/console.ts';
import type { Probes, Readiness } from '../http/pages/health.ts';
import { RateLimits } from '../http/limits/rate-limit.ts';
import { startHttpServer, type HttpServer } from '../http/server.ts';
import type { SessionEnds } from '../live/session-ends.ts';
import type { Core } from '../features/core.ts';
import { isDatabaseUnavailable } from '../storage/database/errors.ts';
import type { Database } from '../storage/database/mongo.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface ApiParts {
  readonly core: Core;
  readonly sessionEnds: SessionEnds;
  readonly database: Database;
  readonly redis: RedisParts | null;
  readonly pageToken: string | undefined;
  readonly demoPeople: (() => Promise<readonly DemoPerson[]>) | undefined;
  readonly probes: Probes;
  readonly readiness: (() => Promise<Readiness>) | undefined;
}

/** Share of the cache memory for rendered parts; `storage/repositories.ts` divides the rest. */
const PARTS_SHARE = 5 / 16;

export function openApi(
  config: Config,
  parts: ApiParts,
  logger: Logger,
  metrics: Metrics,
): Promise<HttpServer> {
  const { http, live } = config;
  const { core, sessionEnds, database, redis, probes, readiness } = parts;
  return startHttpServer({
    core,
    sessionEnds,
    logger,
    auth: authOf(config),
    host: http.host,
    port: http.port,
    graphiql: http.graphiql,
    console: http.console,
    pageToken: parts.pageToken,
    demoPeople: parts.demoPeople,
    introspection: http.introspection,
    corsOrigins: http.corsOrigins,
    partBytes: Math.floor(config.cacheBytes * PARTS_SHARE),
    isUnavailable: (error) => {
      database.writes.note(error);
      return isDatabaseUnavailable(error);
    },
    trustedProxies: http.trustedProxies,
    limits: {
      maxBodyBytes: http.maxBodyBytes,
      maxUserBodyBytes: http.maxUserBodyBytes,
      maxBodyBytesUnderWay: http.maxBodyBytesUnderWay,
      maxAnswerBytes: http.maxAnswerBytes,
      maxAnswerBytesUnderWay: http.maxAnswerBytesUnderWay,
      maxConnections: http.maxConnections,
      socketIdleMs: http.socketIdleMs,
      maxSubscriptionsPerConnection: live.maxSubscriptionsPerConnection,
      maxSubscriptionsPerUser: live.maxSubscriptionsPerUser,
    },
    rateLimits: rateLimitsOf(http.rateLimits, redis),
    persistedOperations: http.persistedOperations ?? undefined,
    metricsPage: config.metrics.port === undefined ? { token: config.metrics.token } : null,
    probes,
    readiness,
    metrics,
  });
}

function rateLimitsOf(rates: Config['http']['rateLimits'], redis: RedisParts | null): RateLimits {
  const shareOf = (rate: (typeof rates)['requests']) =>
    rate === null ? undefined : { points: rate.points, seconds: rate.perMs / 1_000 };
  return new RateLimits({
    requests: shareOf(rates.requests),
    cost: shareOf(rates.cost),
    tenantRequests: shareOf(rates.tenantRequests),
    tenantCost: shareOf(rates.tenantCost),
    ...(redis === null ? {} : { shared: redis.parts }),
  });
}

function authOf({ auth }: Config): AuthOptions {
  const { jwksUri, jwtSecret, jwksMaxAgeMs, jwksMaxStaleMs } = auth;
  const checks = { issuer: auth.issuer, audience: auth.audience, tenantClaim: auth.tenantClaim };
  if (jwksUri !== undefined)
    return { jwksUri, maxAgeMs: jwksMaxAgeMs, maxStaleMs: jwksMaxStaleMs, ...checks };
  if (jwtSecret !== undefined) return { secret: jwtSecret, ...checks };
  throw new Error('Neither JWT_SECRET nor JWKS_URI is set');
}
