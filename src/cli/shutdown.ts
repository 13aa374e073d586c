import closeWithGrace from 'close-with-grace';
import { logClosed, logClosing, logCrash } from '../telemetry/events.ts';
import { endProgress } from './terminal.ts';
import type { Logger } from '../telemetry/logger.ts';
import { constants } from 'node:os';
import type { Terminal } from '../app/command-shapes.ts';

/** Time limit for closing after a signal, in milliseconds. */
export const CLOSE_WITHIN_MS = 10_000;
/** Under npm a Ctrl-C arrives twice: from the terminal, and forwarded by npm. */
const SAME_SIGNAL_MS = 1_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type Signal = (typeof SIGNALS)[number];

interface SignalHandlers {
  readonly onFirst: (signal: Signal) => void;
  readonly onFurther: (signal: Signal) => void;
  /** Default: none. */
  readonly ignored?: readonly NodeJS.Signals[];
}

/** Handles the first SIGINT, SIGTERM or SIGHUP, and further ones, for the lifetime of the process. */
export function onSignals({ onFirst, onFurther, ignored = [] }: SignalHandlers): void {
  let firstAt: number | null = null;
  for (const signal of SIGNALS)
    process.on(signal, () => {
      if (ignored.includes(signal)) return;
      if (firstAt === null) {
        firstAt = performance.now();
        onFirst(signal);
      } else if (performance.now() - firstAt >= SAME_SIGNAL_MS) onFurther(signal);
    });
}

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
        error: (message: unknown) => logCrash(logger, { err: message }),
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

interface Interruptible {
  /** One line: what was done, and how to continue. */
  readonly farewell: () => string;
  readonly close?: () => Promise<void>;
  /** Default: the shell's exit code for the signal. */
  readonly exitCode?: number;
}

/**
 * Ends a command in order on the first SIGINT, SIGTERM or SIGHUP: restores the terminal, reports the state, and closes what
 * is open within ten seconds. Another signal ends it at once.
 */
export function endOnSignals(
  terminal: Terminal,
  { farewell, close = () => Promise.resolve(), exitCode }: Interruptible,
): void {
  const codeOf = (signal: NodeJS.Signals): number => exitCode ?? 128 + constants.signals[signal];
  onSignals({
    onFirst: (signal) => {
      const code = codeOf(signal);
      endProgress();
      terminal.note(farewell());
      // Messages of the command while everything is being closed would only confuse.
      terminal.mute();
      setTimeout(() => process.exit(code), CLOSE_WITHIN_MS);
      void close()
        .catch(() => undefined)
        .finally(() => process.exit(code));
    },
    onFurther: (signal) => process.exit(codeOf(signal)),
  });
}
