import closeWithGrace from 'close-with-grace';
import { logClosed, logClosing, logCrash } from '../telemetry/events/process.ts';
import { endProgress } from './progress.ts';
import { CLOSE_WITHIN_MS, onSignals, SIGNALS } from './signals.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Faults of the process itself: a JavaScript handler would return to the fault for ever instead of ending the process. */
const FATAL_SIGNALS = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const;

export interface ShutdownOptions {
  /** Signals left to the parent process. Default: none. */
  readonly ignored?: readonly NodeJS.Signals[];
  /** Time limit for closing, in milliseconds. Default: ten seconds. */
  readonly withinMs?: number;
}

/**
 * Runs `close` on the first SIGINT, SIGTERM or SIGHUP and exits with 0; another signal exits with 1 at once, as does a close
 * that takes too long. An uncaught error closes as well and exits with 1.
 */
export function closeOnSignals(
  logger: Logger,
  close: () => Promise<void>,
  { ignored = [], withinMs = CLOSE_WITHIN_MS }: ShutdownOptions = {},
): void {
  let reason = 'an error';
  const grace = closeWithGrace(
    {
      delay: withinMs,
      skip: [...SIGNALS, ...FATAL_SIGNALS, 'beforeExit'],
      logger: {
        error: (message: unknown) => {
          logCrash(logger, { err: message });
        },
      },
    },
    async ({ err }) => {
      if (err !== undefined) logCrash(logger, { err });
      const startedAt = performance.now();
      logClosing(logger, { reason });
      await close();
      logClosed(logger, { seconds: (performance.now() - startedAt) / 1_000 });
    },
  );
  onSignals({
    onFirst: (signal) => {
      reason = signal;
      endProgress();
      grace.close();
    },
    onFurther: () => process.exit(1),
    ignored,
  });
}
