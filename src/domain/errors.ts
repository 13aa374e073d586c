export const ERROR_CODES = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'BAD_USER_INPUT',
  'BAD_CURSOR',
  'NOT_FOUND',
  'CONFLICT',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'INTERNAL_SERVER_ERROR',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export interface InputIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** An error meant for the caller. All other errors are internal: masked in the response and logged. */
export class FanfareError extends Error {
  override readonly name = 'FanfareError';
  readonly code: ErrorCode;
  readonly issues: readonly InputIssue[];

  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly issues?: readonly InputIssue[]; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.issues = options.issues ?? [];
  }
}

export function badInput(message: string, path: readonly (string | number)[] = []): FanfareError {
  return new FanfareError('BAD_USER_INPUT', message, { issues: [{ path, message }] });
}
