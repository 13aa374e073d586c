import type { ClientLogin } from './auth/client-login.ts';
import type { CursorStore } from './cursors.ts';
import type { Engine } from './engine.ts';
import type { Statistics } from './statistics.ts';
import type { Request } from './wire/request.ts';

/** What a command handler may use. */
export interface CommandContext {
  readonly engine: Engine;
  readonly cursors: CursorStore;
  readonly statistics: Statistics;
  readonly connectionId: number;
  readonly login: ClientLogin;
  /** How many clients are connected. */
  readonly countClients: () => number;
  readonly startedAt: number;
  /** Takes what went wrong on this side, for a log. */
  readonly onFault: (fault: Error) => void;
  /** Aborted when nobody waits for the answer any more. */
  readonly clientLeft: AbortSignal;
}

/** Answers one command with the BSON bytes of its reply. Rejects with CommandError or what the engine rejects with. */
export type Handler = (request: Request, context: CommandContext) => Promise<Buffer> | Buffer;

/** Handlers by command name. */
export type Handlers = Readonly<Record<string, Handler>>;
