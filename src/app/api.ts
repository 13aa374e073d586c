import type { Config } from '../config/config.ts';
import type { RedisParts } from '../connections/redis-parts.ts';
import type { AuthOptions } from '../http/identity/auth.ts';
import type { HttpServerOptions } from '../http/http-context.ts';
import { RateLimits } from '../http/limits/rate-limit.ts';
import { startHttpServer, type HttpServer } from '../http/server.ts';
import { FEATURES } from './features.ts';
import { schemaOf } from './schema.ts';
import { isDatabaseUnavailable } from '../storage/database/errors.ts';
import type { Database } from '../storage/database/mongo.ts';

export interface ApiParts extends Pick<
  HttpServerOptions,
  'core' | 'pageToken' | 'demoPeople' | 'probes' | 'readiness' | 'metrics' | 'logger'
> {
  readonly database: Database;
  readonly redis: RedisParts;
}

/** Share of the cache memory for rendered parts; `app/repositories.ts` divides the rest. */
const PARTS_SHARE = 5 / 16;

export async function openApi(config: Config, { database, redis, ...parts }: ApiParts): Promise<HttpServer> {
  const { http, live, metrics } = config;
  const options: HttpServerOptions = {
    ...parts,
    ...http,
    auth: authOf(config),
    schema: await schemaOf(config),
    partBytes: Math.floor(config.cacheBytes * PARTS_SHARE),
    isUnavailable: (error) => {
      database.writes.note(error);
      return isDatabaseUnavailable(error);
    },
    // The settings of limits are called as the limits are.
    limits: { ...http, ...live },
    rateLimits: rateLimitsOf(http.rateLimits, redis),
    metricsPage: metrics.port === undefined ? { token: metrics.token } : null,
  };
  return startHttpServer(
    options,
    FEATURES.flatMap(({ routes }) => routes?.(config) ?? []),
  );
}

function rateLimitsOf(rates: Config['http']['rateLimits'], { parts: shared }: RedisParts): RateLimits {
  const shareOf = (rate: (typeof rates)['requests']) =>
    rate === null ? undefined : { points: rate.points, seconds: rate.perMs / 1_000 };
  return new RateLimits({
    requests: shareOf(rates.requests),
    cost: shareOf(rates.cost),
    tenantRequests: shareOf(rates.tenantRequests),
    tenantCost: shareOf(rates.tenantCost),
    shared,
  });
}

function authOf({ auth }: Config): AuthOptions {
  const { jwksUri, jwtSecret, jwksMaxAgeMs, jwksMaxStaleMs } = auth;
  const { issuer, audience, tenantClaim, rolesClaim } = auth;
  const checks = { issuer, audience, tenantClaim, rolesClaim };
  if (jwksUri !== undefined)
    return { jwksUri, maxAgeMs: jwksMaxAgeMs, maxStaleMs: jwksMaxStaleMs, ...checks };
  if (jwtSecret !== undefined) return { secret: jwtSecret, ...checks };
  throw new Error('Neither JWT_SECRET nor JWKS_URI is set');
}
