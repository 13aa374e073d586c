import { errorCode } from './errors.ts';

/**
 * The engine's own SQLSTATEs, class M0, with the MongoDB number each stands for. Those with a name in MongoDB are
 * here, and the numbered ones that ordinary mistakes run into; `mongoCode` says what becomes of the rest.
 */
const engineStates: Readonly<Record<string, number>> = {
  M0000: errorCode.InternalError,
  M0001: errorCode.BadValue,
  M0002: errorCode.GraphContainsCycle,
  M0003: errorCode.FailedToParse,
  M0004: errorCode.TypeMismatch,
  M0005: errorCode.Overflow,
  M0006: errorCode.IllegalOperation,
  M0008: errorCode.NamespaceNotFound,
  M0009: errorCode.IndexNotFound,
  M000A: errorCode.PathNotViable,
  M000C: errorCode.CannotBackfillArray,
  M000D: errorCode.ConflictingUpdateOperators,
  M000E: errorCode.CursorNotFound,
  M000F: errorCode.NamespaceExists,
  M000G: errorCode.DollarPrefixedFieldName,
  M000I: errorCode.NotSingleValueField,
  M000J: errorCode.EmptyFieldName,
  M000K: errorCode.DottedFieldName,
  M000L: errorCode.ShardKeyNotFound,
  M000M: errorCode.ImmutableField,
  M000N: errorCode.CannotCreateIndex,
  M000O: errorCode.IndexAlreadyExists,
  M000P: errorCode.InvalidOptions,
  M000Q: errorCode.InvalidNamespace,
  M000R: errorCode.IndexOptionsConflict,
  M000S: errorCode.IndexKeySpecsConflict,
  M000U: errorCode.CommandNotSupported,
  M000W: errorCode.ExceededMemoryLimit,
  M000Y: errorCode.ViewDepthLimitExceeded,
  M000Z: errorCode.CommandNotSupportedOnView,
  M0010: errorCode.OptionNotSupportedOnView,
  M0011: errorCode.AmbiguousIndexKeyPattern,
  M0012: errorCode.InvalidIndexSpecificationOption,
  M0013: errorCode.QueryFeatureNotAllowed,
  M0014: errorCode.MaxSubPipelineDepthExceeded,
  M0015: errorCode.ConversionFailure,
  M0016: errorCode.OperationNotSupportedInTransaction,
  M0017: errorCode.IndexBuildAborted,
  M0018: errorCode.BadValue,
  M001B: errorCode.BSONObjectTooLarge,
  M001C: errorCode.DuplicateKey,
  M001D: errorCode.BackgroundOperationInProgressForNamespace,
  M001H: errorCode.MergeStageNoMatchingDocument,
  // Numbers without a name: a document that an update, an upsert made too big; an unknown pipeline stage; a missing
  // field, an unknown field.
  M003A: 17_419,
  M003B: 17_420,
  M007U: 40_324,
  M0087: 40_414,
  M0088: 40_415,
  M00CO: errorCode.DocumentValidationFailure,
  M00DO: errorCode.InvalidLength,
  M00EL: errorCode.CursorInUse,
  M00FD: errorCode.CannotIndexParallelArrays,
};

/** PostgreSQL's own SQLSTATEs that a command can meet. */
const postgresStates: Readonly<Record<string, number>> = {
  '0A000': errorCode.CommandNotSupported,
  '22023': errorCode.BadValue,
  '22P02': errorCode.BadValue,
  '23505': errorCode.DuplicateKey,
  '23P01': errorCode.DuplicateKey,
  '25006': errorCode.NotWritablePrimary,
  '40001': errorCode.WriteConflict,
  '40P01': errorCode.WriteConflict,
  '42501': errorCode.Unauthorized,
  '42P01': errorCode.NamespaceNotFound,
  '53100': errorCode.OutOfDiskSpace,
  '53200': errorCode.ExceededMemoryLimit,
  '55P03': errorCode.WriteConflict,
  '57014': errorCode.MaxTimeMSExpired,
  '57P01': errorCode.ShutdownInProgress,
  '57P02': errorCode.ShutdownInProgress,
  '57P03': errorCode.ShutdownInProgress,
  '58030': errorCode.FileStreamFailed,
};

/** Serialization failure, deadlock, lock not to be had: what was rolled back with them may be tried again. */
const conflicts = new Set(['40001', '40P01', '55P03']);

export function isConflict(sqlstate: string): boolean {
  return conflicts.has(sqlstate);
}

/**
 * MongoDB's number for a SQLSTATE. An engine state the table does not know is a complaint about the command, so it
 * counts as BadValue; any other state is a fault inside and counts as InternalError.
 */
export function mongoCode(sqlstate: string, message: string): number {
  const known = engineStates[sqlstate] ?? postgresStates[sqlstate];
  const isTooLarge = known === errorCode.BadValue && message.includes('MaxDocumentSize');
  if (isTooLarge) return errorCode.BSONObjectTooLarge;
  if (known !== undefined) return known;
  // The extension reports a failed write to a file of its own as an internal error.
  if (message.includes('No space left on device')) return errorCode.OutOfDiskSpace;
  if (sqlstate === '54000' && message.includes('index row')) return errorCode.CannotBuildIndexKeys;
  return sqlstate.startsWith('M0') ? errorCode.BadValue : errorCode.InternalError;
}

const SMALLEST = 1 << 24;

/** PostgreSQL's states that end in 0 have small numbers, among which MongoDB's own are; these are none of MongoDB's. */
const smallStates = new Map(
  Object.keys(postgresStates)
    .map((state) => [numberOf(state), state] as const)
    .filter(([number]) => number < SMALLEST),
);

function numberOf(state: string): number {
  return Array.from(state).reduce((sum, digit, place) => sum + (digit.charCodeAt(0) - 48) * 64 ** place, 0);
}

/**
 * The SQLSTATE inside a number that the engine puts into `writeErrors` and other replies: five characters of six
 * bits each, the first one lowest. Undefined when the number is none of these, but already MongoDB's.
 */
export function sqlstateOf(engineNumber: number): string | undefined {
  if (engineNumber < SMALLEST) return smallStates.get(engineNumber);
  let state = '';
  for (let rest = engineNumber, digit = 0; digit < 5; digit += 1, rest >>>= 6) {
    state += String.fromCharCode(48 + (rest & 0x3f));
  }
  return /^[0-9A-Z]{5}$/.test(state) ? state : undefined;
}
