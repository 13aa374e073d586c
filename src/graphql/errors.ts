import { GraphQLError, type GraphQLErrorOptions } from 'graphql';
import { ERROR_CODES, FanfareError, type ErrorCode } from '../domain/errors.ts';
import { shortened } from '../lib/cut.ts';

export interface ErrorPolicy {
  /**
   * Called for every internal error, with the error id given to the client.
   * @param isUnavailable result of `isUnavailable` for the error.
   */
  readonly report: (error: unknown, errorId: string, isUnavailable: boolean) => void;
  /** Whether a required service cannot be reached, so that a retry may succeed. */
  readonly isUnavailable: (error: unknown) => boolean;
}

interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Clients that accept only `application/json` get status 200 instead, per GraphQL over HTTP. */
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

/** HTTP answer for a rejected document or variables, as opposed to a malformed request. */
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

/** Ends what is read for a client that has left: nobody is shown it, and it is no failure. */
export function nobodyWaits(): GraphQLError {
  return new GraphQLError('Nobody waits for the answer any more', {
    extensions: { code: 'UNAVAILABLE', http: HTTP_ANSWERS.UNAVAILABLE, isForNobody: true },
  });
}

/** Code of the first error of an outcome; `null`: it is none of the server or the request. */
export function codeOf(errors: readonly GraphQLError[] | undefined): string | null {
  const { code, isForNobody } = errors?.[0]?.extensions ?? {};
  return typeof code === 'string' && isForNobody !== true ? code : null;
}

/** Error for a document, possibly with its variables, that exceeds a limit. */
export function documentError(message: string): GraphQLError {
  return apiError('BAD_USER_INPUT', message, DOCUMENT_REFUSED);
}

/**
 * GraphQL's own rejection of a document or its variables. All of these are client errors, including the notice that GraphQL
 * stopped after too many errors, which has no location.
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

/** GraphQL stops at the first fault of the variables and adds a notice: removes the notice. */
export function withFirstRefusal<R extends { readonly errors?: readonly GraphQLError[] }>(result: R): R {
  const { errors } = result;
  // Execution errors have a path.
  if (errors === undefined || errors.length === 0 || errors.some(({ path }) => path !== undefined))
    return result;
  return { ...result, errors: documentErrors(errors.slice(0, 1)) };
}

/** The original error, inside everything the executor wrapped around it. */
function rootCause(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? rootCause(error.originalError) : error;
}

/**
 * Set when GraphQL or its HTTP layer rejected the request. GraphQL also reports internal errors: those thrown by a resolver
 * have a path, and values that do not match the schema have no location in the document.
 */
function refusalOf(error: unknown): { readonly message: string; readonly http: HttpAnswer } | null {
  if (!(error instanceof GraphQLError)) return null;
  const { message, path, nodes, source } = error;
  if (path === undefined && (nodes !== undefined || source !== undefined))
    return { message, http: DOCUMENT_REFUSED };
  const http = error.extensions['http'] as HttpAnswer | undefined;
  if (http === undefined) return refusalOf(error.originalError);
  const { status, headers = {} } = http;
  return status < 500 ? { message, http: { status, headers } } : null;
}

/** GraphQL quotes its input, which may be a megabyte. */
function shorten(message: string): string {
  return shortened(message, MAX_MESSAGE_LENGTH);
}

/** Location of an error in the document and in the result. */
function place({ nodes, source, positions, path }: GraphQLError): GraphQLErrorOptions {
  return {
    ...(nodes && { nodes }),
    ...(source && { source }),
    ...(positions && { positions }),
    ...(path && { path }),
  };
}

/** The error shown to the client. Internal errors are masked and reported. Idempotent. */
export function toApiError(error: unknown, policy: ErrorPolicy): GraphQLError {
  if (error instanceof GraphQLError && isErrorCode(error.extensions['code'])) return error;
  const cause = rootCause(error);

  function present(code: ErrorCode, message: string, more: object, http = HTTP_ANSWERS[code]): GraphQLError {
    const located = error instanceof GraphQLError ? place(error) : {};
    // A failed field is answered with status 200, together with the data of the others.
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
  if (isUnavailable)
    return present('UNAVAILABLE', 'Not available at the moment, try again later', { errorId });
  return present('INTERNAL_SERVER_ERROR', 'Internal server error', { errorId });
}
