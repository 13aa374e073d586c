import { logRequestFailed, logRequestUnavailable } from './events/requests.ts';
import type { Logger } from './logger.ts';

/** An outage is over when nothing failed by it for so long. */
const OUTAGE_OVER_MS = 60_000;

/** While a database is away every request fails alike: the first is logged with its stack, the others in a line each. */
export function createFailureLog(
  log: Pick<Logger, 'error' | 'warn'>,
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
