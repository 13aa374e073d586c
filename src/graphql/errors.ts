import { GraphQLError, type GraphQLErrorOptions } from 'graphql';
import { ERROR_CODES, FanfareError, type ErrorCode } from '../domain/errors.ts';

export interface ErrorPolicy {
  /**
   * Told of every error that is no client's fault, with the id the client was given for it.
   * @param isUnavailable what `isUnavailable` said of it.
   */
  readonly report: (error: unknown, errorId: string, isUnavailable: boolean) => void;
  /** Whether an error says that something which is needed cannot be reached: worth trying again later. */
  readonly isUnavailable: (error: unknown) => boolean;
}

interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Clients that accept only `application/json` get status 200 instead, as GraphQL over HTTP has it. */
  readonly spec?: boolean;
}

const HTTP_ANSWERS: Readonly<Record<ErrorCode, HttpAnswer>> = {
  UNAUTHENTICATED: { status: 401, headers: { 'WWW-Authenticate': 'Bearer realm="fanfare"' } },
  FORBIDDEN: { status: 403 },
  BAD_USER_INPUT: { status: 400 },
  BAD_CURSOR: { status: 400 },
  NOT_FOUND: { status: 404 },
  CONFLICT: { status: 409 },
  RATE_LIMITED: { status: 429 },
  UNAVAILABLE: { status: 503 },
  INTERNAL_SERVER_ERROR: { status: 500 },
};

const MAX_MESSAGE_LENGTH = 500;

/** How a document or its variables are refused, in contrast to a request that is none. */
const DOCUMENT_REFUSED: HttpAnswer = { status: 400, spec: true };

function isErrorCode(code: unknown): code is ErrorCode {
  return (ERROR_CODES as readonly unknown[]).includes(code);
}

export function apiError(
  code: ErrorCode,
  message: string,
  http: HttpAnswer = HTTP_ANSWERS[code],
): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http } });
}

/** The error of a document, or of a document with its variables, that breaks a limit. */
export function documentError(message: string): GraphQLError {
  return apiError('BAD_USER_INPUT', message, DOCUMENT_REFUSED);
}

/**
 * The refusal of a document, or of its variables, as GraphQL words it. All of it is the client's fault, also the notice
 * that GraphQL stopped at so many errors, which points to no place.
 */
export function documentErrors(errors: readonly GraphQLError[]): GraphQLError[] {
  return errors.map((error) =>
    isErrorCode(error.extensions['code'])
      ? error
      : new GraphQLError(shorten(error.message), {
          ...place(error),
          extensions: { code: 'BAD_USER_INPUT', http: DOCUMENT_REFUSED },
        }),
  );
}

/** The result, where GraphQL refused the variables with the first of their faults alone: it also says that it stopped. */
export function withFirstRefusal<R extends { readonly errors?: readonly GraphQLError[] }>(result: R): R {
  const { errors } = result;
  // What failed while it ran has a path.
  if (errors === undefined || errors.length === 0 || errors.some(({ path }) => path !== undefined))
    return result;
  return { ...result, errors: documentErrors(errors.slice(0, 1)) };
}

/** The error that was thrown first, below what the executor wrapped around it. */
function rootCause(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? rootCause(error.originalError) : error;
}

interface Refusal {
  readonly message: string;
  readonly http: HttpAnswer;
}

/**
 * Set where GraphQL itself or its HTTP layer refused the request. GraphQL also reports faults of ours: what a
 * resolver threw has a path, and values that do not fit the schema point to no place in the document.
 */
function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof GraphQLError)) return null;
  const { message, path, nodes, source } = error;
  if (path === undefined && (nodes !== undefined || source !== undefined))
    return { message, http: DOCUMENT_REFUSED };
  const http = error.extensions['http'] as HttpAnswer | undefined;
  if (http === undefined) return refusalOf(error.originalError);
  const { status, headers = {} } = http;
  return status < 500 ? { message, http: { status, headers } } : null;
}

/** GraphQL repeats what it was given, which may be a megabyte. */
function shorten(message: string): string {
  return message.length <= MAX_MESSAGE_LENGTH ? message : `${message.slice(0, MAX_MESSAGE_LENGTH)}…`;
}

/** Where in the document and in the result an error belongs. */
function place({ nodes, source, positions, path }: GraphQLError): GraphQLErrorOptions {
  return {
    ...(nodes && { nodes }),
    ...(source && { source }),
    ...(positions && { positions }),
    ...(path && { path }),
  };
}

/** What the client sees of an error. Errors that are ours are masked and reported. Idempotent. */
export function toApiError(error: unknown, policy: ErrorPolicy): GraphQLError {
  if (error instanceof GraphQLError && isErrorCode(error.extensions['code'])) return error;
  const cause = rootCause(error);

  function present(code: ErrorCode, message: string, more: object, http = HTTP_ANSWERS[code]): GraphQLError {
    const located = error instanceof GraphQLError ? place(error) : {};
    // A field that failed is answered with status 200, beside the data of the others.
    const answer = located.path === undefined ? { http } : {};
    return new GraphQLError(shorten(message), { ...located, extensions: { code, ...more, ...answer } });
  }

  if (cause instanceof FanfareError) {
    const { code, message, issues } = cause;
    return present(code, message, issues.length > 0 ? { issues } : {});
  }
  const refusal = refusalOf(error);
  if (refusal !== null) return present('BAD_USER_INPUT', refusal.message, {}, refusal.http);
  const errorId = crypto.randomUUID();
  const isUnavailable = policy.isUnavailable(cause);
  policy.report(cause, errorId, isUnavailable);
  if (isUnavailable) return present('UNAVAILABLE', 'Not available now, try again later', { errorId });
  return present('INTERNAL_SERVER_ERROR', 'Internal server error', { errorId });
}
