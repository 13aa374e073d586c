import type { Document } from 'mongodb';

/** MongoDB's numbers for the errors the gateway and the engine raise, by their MongoDB names. */
export const errorCode = {
  InternalError: 1,
  BadValue: 2,
  GraphContainsCycle: 5,
  HostUnreachable: 6,
  UnknownError: 8,
  FailedToParse: 9,
  Unauthorized: 13,
  TypeMismatch: 14,
  Overflow: 15,
  InvalidLength: 16,
  AuthenticationFailed: 18,
  IllegalOperation: 20,
  InvalidBSON: 22,
  LockTimeout: 24,
  NamespaceNotFound: 26,
  IndexNotFound: 27,
  PathNotViable: 28,
  CannotBackfillArray: 34,
  FileStreamFailed: 39,
  ConflictingUpdateOperators: 40,
  CursorNotFound: 43,
  NamespaceExists: 48,
  MaxTimeMSExpired: 50,
  DollarPrefixedFieldName: 52,
  NotSingleValueField: 54,
  EmptyFieldName: 56,
  DottedFieldName: 57,
  CommandNotFound: 59,
  ShardKeyNotFound: 61,
  ImmutableField: 66,
  CannotCreateIndex: 67,
  IndexAlreadyExists: 68,
  InvalidOptions: 72,
  InvalidNamespace: 73,
  IndexOptionsConflict: 85,
  IndexKeySpecsConflict: 86,
  ShutdownInProgress: 91,
  OperationFailed: 96,
  WriteConflict: 112,
  CommandNotSupported: 115,
  DocumentValidationFailure: 121,
  ExceededMemoryLimit: 146,
  ViewDepthLimitExceeded: 165,
  CommandNotSupportedOnView: 166,
  OptionNotSupportedOnView: 167,
  CannotIndexParallelArrays: 171,
  AmbiguousIndexKeyPattern: 181,
  InvalidIndexSpecificationOption: 197,
  CannotBuildIndexKeys: 201,
  QueryFeatureNotAllowed: 224,
  MaxSubPipelineDepthExceeded: 232,
  ConversionFailure: 241,
  ExceededTimeLimit: 262,
  OperationNotSupportedInTransaction: 263,
  IndexBuildAborted: 276,
  QueryExceededMemoryLimitNoDiskUseAllowed: 292,
  MechanismUnavailable: 334,
  NotWritablePrimary: 10107,
  BSONObjectTooLarge: 10334,
  DuplicateKey: 11000,
  CursorInUse: 12051,
  BackgroundOperationInProgressForNamespace: 12587,
  MergeStageNoMatchingDocument: 13113,
  OutOfDiskSpace: 14031,
} as const;

export type ErrorName = keyof typeof errorCode;

const nameByCode = new Map<number, ErrorName>(
  Object.entries(errorCode).map(([name, code]) => [code, name as ErrorName]),
);

/** MongoDB's name of a code; codes without a name are called by their number, as MongoDB does. */
export function codeName(code: number): string {
  return nameByCode.get(code) ?? `Location${String(code)}`;
}

/** A command that fails: what the client receives. `extra` are further fields of the reply. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: number;
  readonly extra: Document;

  constructor(code: number, message: string, extra: Document = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.extra = extra;
  }
}

/** A CommandError by MongoDB's name. */
export function commandError(name: ErrorName, message: string, extra: Document = {}): CommandError {
  return new CommandError(errorCode[name], message, extra);
}

/** The reply to a command that failed. */
export function errorReply(error: CommandError): Document {
  return { ok: 0, errmsg: error.message, code: error.code, codeName: codeName(error.code), ...error.extra };
}
