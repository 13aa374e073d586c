import type { Environment } from '../config/env.ts';
import type { HostConfig } from '../descriptors/host-config.ts';

/** Where a command speaks: what it was asked for goes to stdout, everything else to stderr. */
export interface Terminal {
  out(line: string): void;
  note(line: string): void;
  /** Someone is watching stderr: colours and moving bars are welcome. */
  readonly isInteractive: boolean;
  readonly stderr: NodeJS.WritableStream;
  /** From now on nothing is said any more. */
  mute(): void;
}

export interface CommandContext {
  readonly env: Environment;
  readonly terminal: Terminal;
  /** Types of actions and more, checked; default: all that come with the server. */
  readonly hostConfig?: HostConfig;
}

/** A fault of the user that needs no stack trace: the message says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
