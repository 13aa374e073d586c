import { logRequestFailed, logRequestUnavailable } from './events.ts';
import type { Logger } from './logger.ts';

/** An outage counts as over after this time without a failure. */
const OUTAGE_OVER_MS = 60_000;

/** During an outage every request fails alike: logs the first failure with its stack, the others in one line each. */
export function createFailureLog(
  log: Logger,
  now: () => number = () => performance.now(),
): (err: unknown, errorId: string, isUnavailable: boolean) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (err, errorId, isUnavailable) => {
    const isFirst = now() - lastAt >= OUTAGE_OVER_MS;
    if (isUnavailable) lastAt = now();
    if (isFirst || !isUnavailable) logRequestFailed(log, { errorId, err });
    else logRequestUnavailable(log, { errorId, reason: err instanceof Error ? err.message : String(err) });
  };
}
