import { constants } from 'node:os';
import type { Terminal } from './context.ts';
import { endProgress } from './progress.ts';
import { CLOSE_WITHIN_MS, onSignals } from './signals.ts';

export interface Interruptible {
  /** One line: what was done, and how to go on. */
  readonly farewell: () => string;
  readonly close?: () => Promise<void>;
  /** Default: as a shell has it for a program that a signal ended. */
  readonly exitCode?: number;
}

/**
 * Ends a command in order at the first SIGINT, SIGTERM or SIGHUP: gives the terminal back, says how things stand, and
 * closes what is open, for ten seconds at most. A further signal ends it at once.
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
      // What the command says while everything is closed below it would only confuse.
      terminal.mute();
      setTimeout(() => process.exit(code), CLOSE_WITHIN_MS);
      void close()
        .catch(() => undefined)
        .finally(() => process.exit(code));
    },
    onFurther: (signal) => process.exit(codeOf(signal)),
  });
}
