import type { GraphQLError } from 'graphql';
import { logRequest } from '../../telemetry/events/requests.ts';
import { createFailureLog } from '../../telemetry/failure-log.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { toApiError } from '../../graphql/errors.ts';

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
      const code = errors?.[0]?.extensions['code'];
      const figures = {
        operation,
        code: typeof code === 'string' ? code : 'OK',
        seconds: (performance.now() - startedAt) / 1_000,
      };
      metrics.requestFinished(figures);
      logRequest(logger, figures);
    },
    presentError: (error) => toApiError(error, policy),
  };
}
