import type { Command } from 'commander';
import type { Environment } from '../config/env.ts';
import type { HostConfig } from '../descriptors/host-config.ts';

/** Output of a command: its results go to stdout, everything else to stderr. */
export interface Terminal {
  out(line: string): void;
  note(line: string): void;
  /** stderr is a terminal: colours and progress bars are welcome. */
  readonly isInteractive: boolean;
  readonly stderr: NodeJS.WritableStream;
  /** Suppresses all further output. */
  mute(): void;
}

export interface CommandContext {
  readonly env: Environment;
  readonly terminal: Terminal;
  /** Checked host configuration; default: all types that ship with the server. */
  readonly hostConfig?: HostConfig;
}

/** Adds commands to the program. @param exit receives a command's exit code. */
export type AddCommands = (
  program: Command,
  context: () => CommandContext,
  exit: (code: number) => void,
) => void;

/** A user error: the message says what to do, and no stack trace is shown. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
