import type { ProcessIdentity } from './process/identity.ts';

/** A process the keeper is to run. */
export interface ServiceSpec {
  /** Unique among what this keeper runs at the moment. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing of the keeper's own is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Where its output goes. With `lines`, standard output is read line by line instead and only errors go there. */
  readonly log: string;
  readonly stdout: 'log' | 'lines';
  /** How it is asked to stop: by a signal, or (`eof`) by the end of its standard input. */
  readonly stopBy: 'SIGINT' | 'SIGTERM' | 'eof';
  /** How long it may take to stop before it is killed, in milliseconds. */
  readonly stopWithinMs: number;
  /** How the command lines of its child processes begin, if a killed service may leave some in `cwd`. */
  readonly orphans?: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export type ToKeeper =
  | { readonly type: 'start'; readonly spec: ServiceSpec }
  | { readonly type: 'stop'; readonly name: string }
  | { readonly type: 'signal'; readonly name: string; readonly signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' }
  | { readonly type: 'keep'; readonly name: string }
  | { readonly type: 'end' };

export type FromKeeper =
  | { readonly type: 'up' }
  /** It was asked to end, but other processes use its services. */
  | { readonly type: 'shared' }
  | { readonly type: 'started'; readonly name: string; readonly pid: number }
  | { readonly type: 'line'; readonly name: string; readonly line: string }
  | { readonly type: 'down'; readonly name: string; readonly exit: Exit; readonly pauseMs: number }
  | { readonly type: 'restarted'; readonly name: string; readonly pid: number }
  | { readonly type: 'exited'; readonly name: string; readonly exit: Exit }
  | { readonly type: 'refused'; readonly name: string; readonly reason: string };

/** What a keeper notes down, so that a later start can clear what survived the keeper's own violent end. */
export interface KeeperRecord {
  readonly keeper: ProcessIdentity;
  readonly services: readonly RunningService[];
}

export interface RunningService {
  readonly name: string;
  readonly identity: ProcessIdentity;
}

/** The file of the record, in the folder the keeper is given. */
export const RECORD_FILE = 'processes.json';
