/** An error of a GraphQL answer. */
export interface AnswerError {
  readonly message: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

const TEMPORARY: ReadonlySet<string> = new Set([
  'NETWORK',
  'TOKEN',
  'ORIGIN',
  'UNAVAILABLE',
  'RATE_LIMITED',
  'INTERNAL_SERVER_ERROR',
]);

export interface FeedClientErrorOptions {
  readonly cause?: unknown;
  /** What else the server said, such as `issues` of a BAD_USER_INPUT. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export class FeedClientError extends Error {
  override readonly name = 'FeedClientError';
  /**
   * `extensions.code` of the server's error, or one of the client's own: NETWORK (no connection, or it was lost), TOKEN
   * (the token function has failed), ORIGIN (the server does not answer pages of this origin), PROTOCOL (the answer makes no sense: is the address right?).
   */
  readonly code: string;
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, { cause, extensions = {} }: FeedClientErrorOptions = {}) {
    super(message, { cause });
    this.code = code;
    this.extensions = extensions;
  }

  /** Whether the same may succeed later. */
  get isTemporary(): boolean {
    return TEMPORARY.has(this.code);
  }
}

/** What only the developers of the page can mend: the reader may see nothing of it. */
const OF_THE_PAGE: ReadonlySet<string> = new Set(['TOKEN', 'ORIGIN', 'PROTOCOL']);

/** What was said. One for all clients: a page has several, also such that are made for one request. */
const said = new Set<string>();
/** So that a server, which lives longer than a page, does not keep more and more. */
const MOST_SAID = 100;

/** Says each once, however often it is tried again. */
export function tell(error: unknown): void {
  if (!(error instanceof FeedClientError) || !OF_THE_PAGE.has(error.code)) return;
  if (said.has(error.message) || said.size >= MOST_SAID) return;
  said.add(error.message);
  // oxlint-disable-next-line no-console -- where developers look first
  console.error(`Fanfare: ${error.message}`);
}

/** The first error of an answer stands for all. */
export function answerError([first]: readonly AnswerError[]): FeedClientError {
  const { message = 'The server gave no reason', extensions = {} } = first ?? {};
  const { code } = extensions;
  return new FeedClientError(typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR', message, {
    extensions,
  });
}

const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  408: 'UNAVAILABLE',
  429: 'RATE_LIMITED',
};

/** An answer that is no GraphQL, as of a proxy in between. */
export function statusError(status: number): FeedClientError {
  const code = CODES[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'PROTOCOL');
  return new FeedClientError(code, `The server answered with status ${String(status)} and no GraphQL`);
}

export function networkError(message: string, cause?: unknown): FeedClientError {
  return new FeedClientError('NETWORK', message, { cause });
}

export function protocolError(message: string, cause?: unknown): FeedClientError {
  return new FeedClientError('PROTOCOL', message, { cause });
}
