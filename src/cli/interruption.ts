import { constants } from 'node:os';
import type { Terminal } from './context.ts';
import { endProgress } from './progress.ts';
import { CLOSE_WITHIN_MS, onSignals } from './signals.ts';

export interface Interruptible {
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
