import { constants } from 'node:os';
import type { Terminal } from './context.ts';
import { endProgress } from './progress.ts';

const CLOSE_WITHIN_MS = 10_000;
/** A Ctrl-C under npm arrives twice: from the terminal, and passed on by npm. */
const SAME_SIGNAL_MS = 1_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

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
  let firstAt: number | null = null;
  for (const signal of SIGNALS)
    process.on(signal, () => {
      const code = exitCode ?? 128 + constants.signals[signal];
      if (firstAt !== null) {
        if (Date.now() - firstAt >= SAME_SIGNAL_MS) process.exit(code);
        return;
      }
      firstAt = Date.now();
      endProgress();
      terminal.note(farewell());
      // What the command says while everything is closed below it would only confuse.
      terminal.mute();
      setTimeout(() => process.exit(code), CLOSE_WITHIN_MS);
      void close()
        .catch(() => undefined)
        .finally(() => process.exit(code));
    });
}
