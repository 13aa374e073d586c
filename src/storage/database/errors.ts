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
 * The feed store cannot be reached or refuses writes. Retryable: writers retry as often as it takes; readers fall back to
 * the actions.
 */
export class StoreUnavailable extends FanfareError {
  constructor(message: string, cause?: unknown) {
    super('UNAVAILABLE', message, { cause });
  }
}

/** Error codes of a server that refuses writes until disk space is freed. */
const OUT_OF_SPACE: ReadonlySet<unknown> = new Set([
  39, // FileStreamFailed
  14_031, // OutOfDiskSpace
]);

/** Error codes of a server that is starting, stopping, stepping down or overloaded. */
const PASSING: ReadonlySet<unknown> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  24, // LockTimeout
  43, // CursorNotFound: the server was restarted since the first page
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  100, // UnsatisfiableWriteConcern
  112, // WriteConflict
  117, // ConflictingOperationInProgress
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  175, // QueryPlanKilled
  189, // PrimarySteppedDown
  202, // NetworkInterfaceExceededTimeLimit
  237, // CursorKilled
  262, // ExceededTimeLimit
  279, // ClientDisconnect
  308, // ShardInvalidatedForTargeting
  317, // ConnectionPoolExpired
  365, // TemporarilyUnavailable
  384, // ConnectionError
  462, // IngressRequestRateLimitExceeded
  9_001, // SocketException
  10_058, // LegacyNotPrimary
  10_107, // NotWritablePrimary
  11_600, // InterruptedAtShutdown
  11_602, // InterruptedDueToReplStateChange
  13_388, // StaleConfig
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
const CONNECTION_ERROR_NAMES: ReadonlySet<string> = new Set([
  'MongoWaitQueueTimeoutError',
  'MongoPoolClosedError',
]);

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

/** Whether it may be because of one of the values that were read together, such as a document that cannot be understood. */
export function mayBeOfOne(error: unknown): boolean {
  return !(error instanceof StoreUnavailable) && !isDatabaseUnavailable(error);
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
