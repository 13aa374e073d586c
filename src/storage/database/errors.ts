import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  type WriteError,
  type Db,
} from 'mongodb';
import { FanfareError } from '../../domain/errors.ts';
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import { clock } from '../../lib/clock.ts';
import { ofInstallation } from '../documents/declaration.ts';

export const WRITE_PROBES = ofInstallation(
  'writeProbes',
  'the document written to test whether the database accepts writes',
);

const PROBES = 'writeProbes';
const PROBE_ID = 'write-probe';
const PROBE_WITHIN_MS = 1_000;
/** Callers within this time share one probe. */
const FRESH_MS = 1_000;
/** After each write refused for lack of space, the database counts as full for this long. */
const FULL_FOR_MS = 5_000;

/**
 * Whether the database accepts writes, tested by a tiny write. A full database may still accept a tiny write while real ones
 * fail, so observed refusals count for a while too. While clients keep writing, the answer stays "no" until none of them is
 * refused; without clients, the probe alone restores the "yes".
 */
export class WriteCheck {
  readonly #db: Db;
  readonly #now: () => number;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #last: { readonly at: number; readonly outcome: Promise<void> } | null = null;

  constructor(db: Db, now: () => number = () => performance.now()) {
    this.#db = db;
    this.#now = now;
  }

  /** Observes any database error; only refusals for lack of space count. */
  note(error: unknown): void {
    if (isOutOfSpace(error)) this.#refusedAt = this.#now();
  }

  /** Rejects while writes fail, or when the database does not answer within a second. */
  async check(): Promise<void> {
    if (this.#now() - this.#refusedAt < FULL_FOR_MS)
      throw new Error('The database recently rejected a write because its disk is full');
    if (this.#last === null || this.#now() - this.#last.at > FRESH_MS) {
      const outcome = this.#probe();
      outcome.catch(() => undefined);
      this.#last = { at: this.#now(), outcome };
    }
    await this.#last.outcome;
  }

  async #probe(): Promise<void> {
    const change = { $set: { at: clock.now() } };
    try {
      // Sent as a raw command, since only those can be aborted, which closes the connection they wait on.
      await this.#db.command(
        { findAndModify: PROBES, query: { _id: PROBE_ID }, update: change, upsert: true },
        { signal: AbortSignal.timeout(PROBE_WITHIN_MS) },
      );
    } catch (error) {
      this.note(error);
      throw error;
    }
  }
}

interface DriverConnection {
  writeCommand(command: object, options: object): Promise<void>;
  destroy(): void;
}

interface ConnectionOptions {
  /** Emits `cancel` when the connections of its owner are closed. */
  readonly cancellationToken?: EventEmitter;
}

/** The driver accepts a connection class from clients but does not export its own. */
const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as {
  readonly Connection: new (socket: Duplex, options: ConnectionOptions) => DriverConnection;
};

/**
 * A connection on which every command ends when the socket does, with an error of the driver. When a socket's buffer is
 * full, the driver waits for it to drain, which has two bugs:
 * - A destroyed socket that has not emitted `close` yet never drains. A command sent at that moment never ends. If it is the
 * driver's
 *   own heartbeat, it is the last one, and all later operations fail until the process is restarted.
 * - A socket that breaks while draining fails the command with the raw socket error, which is neither retried nor recognised
 * as a lost
 *   connection.
 *
 * Both occur when many connections end at once, for example when the server is killed.
 *
 * Neither does closing a client end a connection whose handshake is not answered: its socket would keep the process alive for
 * another half a minute.
 */
export class EndingConnection extends Connection {
  constructor(socket: Duplex, options: ConnectionOptions) {
    super(socket, options);
    const { cancellationToken } = options;
    const end = (): void => {
      this.destroy();
    };
    cancellationToken?.once('cancel', end);
    // The driver's own listener ran first: waiting commands continue and fail because the connection is closed.
    socket.once('close', () => {
      cancellationToken?.off('cancel', end);
      socket.emit('drain');
    });
  }

  override async writeCommand(command: object, options: object): Promise<void> {
    try {
      await super.writeCommand(command, options);
    } catch (error) {
      throw isSocketError(error) ? new MongoNetworkError(error.message, { cause: error }) : error;
    }
  }
}

/** EPIPE, ECONNRESET, ERR_STREAM_DESTROYED and the like; errors of the driver and of aborts have no such code. */
function isSocketError(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('E')
  );
}

const DUPLICATE_KEY = 11_000;
const MAX_TRIES = 5;

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/**
 * The feed store cannot be reached or refuses writes. Retryable: writers retry as often as it takes; readers fall back to
 * the actions.
 */
export class StoreUnavailable extends FanfareError {
  constructor(message: string, cause?: unknown) {
    super('UNAVAILABLE', message, { cause });
  }
}

/** Error codes of a server that refuses writes until disk space is freed. */
const OUT_OF_SPACE = new Set([
  39, // FileStreamFailed
  14_031, // OutOfDiskSpace
]);

/** Error codes of a server that is starting, stopping, stepping down or overloaded. */
const PASSING = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  43, // CursorNotFound: the server was restarted since the first page
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  100, // UnsatisfiableWriteConcern
  112, // WriteConflict
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  175, // QueryPlanKilled
  189, // PrimarySteppedDown
  202, // NetworkInterfaceExceededTimeLimit
  262, // ExceededTimeLimit
  279, // ClientDisconnect
  317, // ConnectionPoolExpired
  384, // ConnectionError
  462, // IngressRequestRateLimitExceeded
  9_001, // SocketException
  10_058, // LegacyNotPrimary
  10_107, // NotWritablePrimary
  11_600, // InterruptedAtShutdown
  11_602, // InterruptedDueToReplStateChange
  13_435, // NotPrimaryNoSecondaryOk
  13_436, // NotPrimaryOrSecondary
]);

/** Error labels for transient errors, set by servers and the driver regardless of the code. */
const PASSING_LABELS = ['RetryableWriteError', 'TransientTransactionError', 'SystemOverloadedError'];

/** Connection errors: lost, timed out, pool exhausted, or closed during an operation. */
const CONNECTION_ERRORS = [
  MongoServerSelectionError,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoTopologyClosedError,
  MongoNotConnectedError,
  MongoClientClosedError,
];
/** Error classes that the driver does not export. */
const CONNECTION_ERROR_NAMES = new Set(['MongoWaitQueueTimeoutError', 'MongoPoolClosedError']);

/**
 * The database cannot be reached or refuses writes; retryable. Applies to a bulk write if its connection was lost or any of
 * its writes was refused for such a reason.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  return (
    isOutOfSpace(error) ||
    faultsOf(error).some(
      (fault) => isConnectionError(fault) || PASSING.has(codeOf(fault)) || hasPassingLabel(fault),
    )
  );
}

export function isOutOfSpace(error: unknown): boolean {
  return faultsOf(error).some((fault) => OUT_OF_SPACE.has(codeOf(fault)));
}

/** The error and the errors inside it: the driver wraps the causes of a failed bulk write. */
function faultsOf(error: unknown): readonly unknown[] {
  if (!(error instanceof MongoError)) return [];
  if (!(error instanceof MongoBulkWriteError)) return [error, error.cause];
  const writeConcernError = error.result.getWriteConcernError();
  return [error, error.cause, error.errorResponse, ...writeErrorsOf(error), writeConcernError];
}

function codeOf(fault: unknown): number {
  const code = typeof fault === 'object' && fault !== null && 'code' in fault ? fault.code : undefined;
  return typeof code === 'number' ? code : Number.NaN;
}

function isConnectionError(fault: unknown): boolean {
  if (CONNECTION_ERRORS.some((kind) => fault instanceof kind)) return true;
  return fault instanceof Error && CONNECTION_ERROR_NAMES.has(fault.name);
}

function hasPassingLabel(fault: unknown): boolean {
  return fault instanceof MongoError && PASSING_LABELS.some((label) => fault.hasErrorLabel(label));
}

function writeErrorsOf(error: MongoBulkWriteError): readonly WriteError[] {
  // The driver's type allows one or many.
  return [error.writeErrors].flat();
}

/** Positions that failed with a duplicate key. @throws the original error if any failed for another reason. */
export function duplicatePositions(error: unknown): number[] {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const writeErrors = writeErrorsOf(error);
  if (writeErrors.length === 0 || writeErrors.some((writeError) => writeError.code !== DUPLICATE_KEY))
    throw error;
  return writeErrors.map((writeError) => writeError.index);
}

/**
 * Retries an upsert that lost the race for a new key: of two concurrent upserts of one key, the database may let one fail.
 * The retry finds the document and updates it.
 */
export async function retryOnDuplicateKey<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      if (!isDuplicateKey(error) || tries === MAX_TRIES) throw error;
    }
  }
}
