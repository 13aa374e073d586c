import { createFailureLog } from '../telemetry/failure-log.ts';
import { logRequest } from '../telemetry/events.ts';
import { codeOf, toApiError } from '../graphql/errors.ts';
import type { GraphQLError } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import type { Accounts, CorsOrigins } from '../config/config.ts';
import type { Core } from '../core/core.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { PersistedOperations } from './execution/persisted-operations.ts';
import type { AddressOf } from './identity/addresses.ts';
import type { AuthOptions, Authenticate } from './identity/auth.ts';
import type { Answers, Intake } from './limits/intake.ts';
import type { Connections, SubscriptionQuota } from './limits/connections.ts';
import type { HttpLimits } from './limits/limits.ts';
import type { RateLimits } from './limits/rate-limit.ts';
import type { Probes, Readiness } from './pages/health.ts';

/** A person whose feed the demo page can show. */
export interface DemoPerson {
  readonly memberId: string;
  readonly name: string;
  readonly token: string;
}

export interface HttpServerOptions {
  readonly core: Core;
  readonly schema: GraphQLSchema;
  readonly auth: AuthOptions;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Serve the query page at GET /graphql and redirect / to it. */
  readonly graphiql: boolean;
  /** Serve the console at /console. Default: false. */
  readonly console?: boolean;
  /** Folder of its built files; default: in the package. */
  readonly consoleFolder?: string;
  /** Provider at which people sign in to the console. Default: none. */
  readonly accounts?: Accounts | null;
  /** Token printed at start, filled into both pages for the user who started the process. Default: none. */
  readonly pageToken?: string | undefined;
  /** People whose feeds the demo page can show to the user who started the process. Default: none. */
  readonly demoPeople?: (() => Promise<readonly DemoPerson[]>) | undefined;
  /** Allow introspection, also without a token. */
  readonly introspection: boolean;
  /** Origins whose pages may call the API. Default: none. */
  readonly corsOrigins?: CorsOrigins;
  /** Approximate memory bound for rendered parts of actions, in bytes. Default: 16 MiB. */
  readonly partBytes?: number;
  /** Proxies in front, as in TRUSTED_PROXIES. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** Override single defaults. */
  readonly limits?: Partial<HttpLimits>;
  /** Absent: requests are not limited. */
  readonly rateLimits?: RateLimits;
  /** File of operations that can be requested by id, and whether users may send no others. Default: none. */
  readonly persistedOperations?: { readonly path: string; readonly isOnly: boolean } | null;
  /** Recognises errors of services that cannot be reached: clients get UNAVAILABLE. Default: none. */
  readonly isUnavailable?: (error: unknown) => boolean;
  readonly probes: Probes;
  /** Answers /ready instead of the probes, for a group of processes. */
  readonly readiness?: (() => Promise<Readiness>) | undefined;
  /** How to serve /metrics; `null`: not here. Default: for everybody. */
  readonly metricsPage?: { readonly token?: string | undefined } | null;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Everything that the parts of an API server share. */
export interface HttpContext extends HttpServerOptions {
  readonly corsOrigins: CorsOrigins;
  readonly limits: HttpLimits;
  readonly authenticate: Authenticate;
  readonly addressOf: AddressOf;
  readonly persisted: PersistedOperations | undefined;
  readonly intake: Intake;
  readonly answers: Answers;
  readonly connections: Connections;
  readonly quota: SubscriptionQuota;
  readonly observer: RequestObserver;
}

export interface RequestObserver {
  /** @param startedAt on the `performance.now()` clock */
  finished(operation: string | null, errors: readonly GraphQLError[] | undefined, startedAt: number): void;
  /** The error as shown to the client; internal errors are logged. */
  readonly presentError: (error: unknown) => GraphQLError;
}

export function createRequestObserver(
  logger: Logger,
  metrics: Metrics,
  isUnavailable: (error: unknown) => boolean,
): RequestObserver {
  const policy = { isUnavailable, report: createFailureLog(logger) };
  return {
    finished(operation, errors, startedAt) {
      const figures = {
        operation,
        code: codeOf(errors) ?? 'OK',
        seconds: (performance.now() - startedAt) / 1_000,
      };
      metrics.requestFinished(figures);
      logRequest(logger, figures);
    },
    presentError: (error) => toApiError(error, policy),
  };
}
