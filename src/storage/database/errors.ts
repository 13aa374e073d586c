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
} from 'mongodb';
import { FanfareError } from '../../domain/errors.ts';

const DUPLICATE_KEY = 11_000;
const MAX_TRIES = 5;

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/**
 * The feed store cannot be reached or refuses writes. Retryable: writers try again later, as often as it takes; readers
 * fall back to the actions.
 */
export class StoreUnavailable extends FanfareError {
  constructor(message: string, cause?: unknown) {
    super('UNAVAILABLE', message, { cause });
  }
}

/** Answers of a server that takes no writes until somebody makes room. */
const OUT_OF_SPACE = new Set([
  39, // FileStreamFailed
  14_031, // OutOfDiskSpace
]);

/** Answers of a server that starts, stops, hands over to another one, or has too much to do. */
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

/** Labels that servers and the driver put on errors of the same kind, whatever the code. */
const PASSING_LABELS = ['RetryableWriteError', 'TransientTransactionError', 'SystemOverloadedError'];

/** Faults of the connection: lost, timed out, none free, or closed while an operation was under way. */
const CONNECTION_ERRORS = [
  MongoServerSelectionError,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoTopologyClosedError,
  MongoNotConnectedError,
  MongoClientClosedError,
];
/** The driver keeps these classes to itself. */
const CONNECTION_ERROR_NAMES = new Set(['MongoWaitQueueTimeoutError', 'MongoPoolClosedError']);

/**
 * The database cannot be reached or refuses writes; retryable. A bulk
 * write is unavailable when its connection was lost or any of its writes was refused for such a reason.
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

/** The error with those inside: the driver wraps what went wrong in a bulk write. */
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
  // The driver types this as one or many.
  return [error.writeErrors].flat();
}

/** Positions that failed for a duplicate key. @throws the error where anything else failed. */
export function duplicatePositions(error: unknown): number[] {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const writeErrors = writeErrorsOf(error);
  if (writeErrors.length === 0 || writeErrors.some((writeError) => writeError.code !== DUPLICATE_KEY))
    throw error;
  return writeErrors.map((writeError) => writeError.index);
}

/**
 * Repeats an upsert that lost the race for a new key: two upserts of one key may both try to insert, and the database
 * refuses one of them. The repetition finds the document and updates it.
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
