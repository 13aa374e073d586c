import type { Db } from 'mongodb';
import { clock } from '../../lib/clock.ts';
import { idOfTime } from './database-time.ts';
import type { Collections } from '../documents/declaration.ts';
import type { WriteCheck } from './write-check.ts';

export type { Collections } from '../documents/declaration.ts';

export interface Database extends AsyncDisposable {
  readonly db: Db;
  readonly collections: Collections;
  /** The server is mongos, the router of a sharded cluster. */
  readonly isSharded: boolean;
  /** Rejects when the database does not answer within a second. */
  ping(): Promise<void>;
  /** Whether the database accepts writes; used for readiness. */
  readonly writes: WriteCheck;
  /** Version of the server, for people. */
  version(): Promise<string>;
  close(): Promise<void>;
}

/** One line of `fanfare doctor`. */
export interface Finding {
  readonly state: 'ok' | 'note' | 'FAIL';
  readonly what: string;
  readonly detail: string;
}

/** The answer of mongos to `hello`. */
export const ROUTER = 'isdbgrid';

export interface DatabaseOptions {
  readonly uri: string;
  readonly db: string;
  /** Upper bound on connections of this process. Default 50. */
  readonly maxPoolSize?: number;
  /** Emit command events, for counting round trips. */
  readonly monitorCommands?: boolean;
  /** Create spans for commands of traced requests and passes. */
  readonly traces?: boolean;
  /** How long an operation waits for a reachable server, in milliseconds. Default 4000. */
  readonly serverSelectionTimeoutMs?: number;
  /** How long a command waits for a connection, and then for its answer, in milliseconds. Default 60000, or as the URI says. */
  readonly answersWithinMs?: number;
  /** The same for the answer to a command that only reads. Its connection is closed, by which the server ends it, too. */
  readonly readsWithinMs?: number | undefined;
}

/** A new document id of 24 hex digits. Starts with the time of the database's clock. */
export function newObjectId(): string {
  return idOfTime(clock.now()).toHexString();
}
