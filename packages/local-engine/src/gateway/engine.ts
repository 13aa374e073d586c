import { setTimeout as delay } from 'node:timers/promises';
import { isConflict } from './engine-errors.ts';
import { commandError } from './errors.ts';
import { Lanes } from './lanes.ts';
import type { PostgresConnection } from './postgres/connection.ts';
import { StatementError } from './postgres/errors.ts';
import type { Parameter, Row } from './postgres/messages.ts';
import type { Pool } from './postgres/pool.ts';

/** A session parameter that differs for one statement. */
export interface Setting {
  readonly name: string;
  readonly value: string;
  /** What it is for all others. */
  readonly otherwise: string;
}

export interface Call {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  /** MongoDB's `maxTimeMS`: how long PostgreSQL may work on it. */
  readonly maxTimeMs?: number | undefined;
  readonly settings?: readonly Setting[];
  /** False for what commits in parts, so that a conflict did not undo it; default true. */
  readonly isRepeatable?: boolean;
  /** What is tried again after a conflict runs one by one with others of the same lane; by default of no name. */
  readonly lane?: string;
  /** This is such another try itself. */
  readonly isRetry?: boolean;
  /** For a text that names something, which no other call will repeat. */
  readonly isOneOff?: boolean;
  /** Cancels the statement. For reads only: whether a write still took effect nobody would know. */
  readonly abort?: AbortSignal;
}

/** Runs single statements against the engine. */
export interface Engine {
  /** All rows of one statement. Rejects with StatementError, ConnectionLost, PoolTimeout or Unreachable. */
  rows(call: Call): Promise<Row[]>;
  /** The one row of a function call. */
  row(call: Call): Promise<Row>;
}

const serverSettings = [
  // Results that outlive a page go to files of the server, so that a cursor is not tied to a connection.
  'documentdb.useFileBasedPersistedCursors=on',
  // A deadlock is raised, not written into the result: the whole statement is rolled back and can be repeated.
  'documentdb.throwDeadlockOnCRUD=on',
  // `$in` with a sort is merged from the index instead of sorting all matches.
  'documentdb.enable_merge_sort_for_in_prefix=on',
  // The index knows which of its paths hold arrays, so a range and a sort on the others are read in its order.
  'documentdb.enableIndexMetadataGlobalTracking=on',
  // As in MongoDB, an index that applies is used, however small the collection is.
  'enable_seqscan=off',
];

/** Session parameters that every connection starts with. */
export const sessionSettings: Readonly<Record<string, string>> = {
  application_name: 'gateway',
  client_encoding: 'UTF8',
  options: serverSettings.map((setting) => `-c ${setting}`).join(' '),
};

/** For a statement that commits in parts: a deadlock costs the one operation, and its result says which. */
export const deadlocksInResult: Setting = {
  name: 'documentdb.throwDeadlockOnCRUD',
  value: 'off',
  otherwise: 'on',
};

/** For a statement that commits in parts: each operation on its own, so that it waits for rivals empty-handed. */
export const oneByOne: Setting = {
  name: 'documentdb.batchWriteSubTransactionCount',
  value: '1',
  otherwise: '512',
};

const attempts = 8;

/** Waits a little, at random, before a conflict is tried again. */
export async function backOff(attempt: number): Promise<void> {
  await delay(Math.random() * Math.min(2 ** attempt, 100));
}

/**
 * A deadlock or serialization failure rolls the single statement back as a whole, so it is tried again here, a few
 * times; what still fails then reaches the client as a write conflict. Tries after the first are made one by one:
 * rivals that insert the same key at a time all wait for each other, and would do so again and again.
 */
export function createEngine(pool: Pool): Engine {
  const lanes = new Lanes();
  async function rows(call: Call): Promise<Row[]> {
    const run = (): Promise<Row[]> => pool.use((connection) => runCancellably(connection, call));
    const retry = (): Promise<Row[]> => lanes.run(call.lane ?? '', run);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await (attempt > 1 || call.isRetry === true ? retry() : run());
      } catch (error) {
        const isConflicting = error instanceof StatementError && isConflict(error.sqlstate);
        if (!isConflicting || call.isRepeatable === false || attempt === attempts) throw error;
      }
      await backOff(attempt);
    }
  }
  return {
    rows,
    async row(call) {
      const [first] = await rows(call);
      if (first === undefined) throw commandError('InternalError', 'The engine gave no answer');
      return first;
    },
  };
}

async function runCancellably(connection: PostgresConnection, call: Call): Promise<Row[]> {
  if (call.abort === undefined) return await runOn(connection, call);
  let cancelled: Promise<void> | undefined;
  const cancel = (): void => {
    cancelled = connection.cancel();
  };
  call.abort.throwIfAborted();
  call.abort.addEventListener('abort', cancel, { once: true });
  try {
    return await runOn(connection, call);
  } finally {
    call.abort.removeEventListener('abort', cancel);
    // The connection is free for others only when the cancellation cannot hit them any more.
    await cancelled;
  }
}

const setSql = 'SELECT set_config($1, $2, false)';

/** All statements go out at once; the server takes the new settings for the one behind them. */
async function runOn(connection: PostgresConnection, call: Call): Promise<Row[]> {
  const settings = settingsOf(call);
  const run = (): Promise<Row[]> => connection.execute(call.sql, call.parameters, call.isOneOff);
  if (settings.length === 0) return await run();
  const before = settings.map(({ name, value }) => connection.execute(setSql, [name, value]));
  const result = run();
  const after = settings.map(({ name, otherwise }) => connection.execute(setSql, [name, otherwise]));
  const [outcome] = await Promise.allSettled([result, ...before, ...after]);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

function settingsOf({ settings = [], maxTimeMs }: Call): readonly Setting[] {
  if (maxTimeMs === undefined) return settings;
  return [...settings, { name: 'statement_timeout', value: String(maxTimeMs), otherwise: '0' }];
}
