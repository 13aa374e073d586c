import type { CommandContext } from '../app/command-shapes.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from './context.ts';
import type { ActingOptions } from './token.ts';
import { ownToken } from './token.ts';

export interface ApiIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly issues: readonly ApiIssue[];

  constructor(code: string, message: string, issues: readonly ApiIssue[]) {
    super(message);
    this.code = code;
    this.issues = issues;
  }
}

export interface ApiClient {
  /**
   * Runs an operation. Transient failures (no connection, UNAVAILABLE, RATE_LIMITED, 5xx) are retried for about half a
   * minute, so operations must be safe to repeat.
   * @throws ApiError, or CommandError when the server cannot be reached or is not a Fanfare server.
   */
  run<T>(query: string, variables: Readonly<Record<string, unknown>>): Promise<T>;
}

interface Answer<T> {
  readonly data?: T | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly issues?: readonly ApiIssue[] };
  }[];
}

const RETRY_AFTER_MS = [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000];
const REQUEST_TIMEOUT_MS = 60_000;
const RETRYABLE_CODES = ['UNAVAILABLE', 'RATE_LIMITED'];

export interface ApiClientOptions {
  /** Result of `readServerUrl`. */
  readonly url: string;
  readonly token: string;
  /** More headers of each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called before the first retry after a success, unless the server only asked for a slower pace. */
  readonly onRetry?: (reason: string) => void;
}

export function apiClient(options: ApiClientOptions): ApiClient {
  const endpoint = options.url;
  let isFailing = false;
  async function once<T>(query: string, variables: Readonly<Record<string, unknown>>): Promise<T> {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        accept: 'application/graphql-response+json',
        authorization: `Bearer ${options.token}`,
        'content-type': 'application/json',
        ...options.headers,
      },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    }).catch((error: unknown) => {
      const message = `${endpoint} cannot be reached: ${reasonOf(error)}`;
      throw isForGood(error) ? new CommandError(message) : new Unreachable(message);
    });
    const answer = (await response.json().catch(() => null)) as Answer<T> | null;
    const [error] = answer?.errors ?? [];
    if (error !== undefined)
      throw new ApiError(error.extensions?.code ?? 'UNKNOWN', error.message, error.extensions?.issues ?? []);
    if (answer?.data == null) {
      const message = `${endpoint} answered with status ${String(response.status)} and without a GraphQL response`;
      throw response.status >= 500 ? new Unreachable(message) : new CommandError(message);
    }
    return answer.data;
  }
  return {
    async run<T>(query: string, variables: Readonly<Record<string, unknown>>) {
      for (const wait of RETRY_AFTER_MS) {
        try {
          const data = await once<T>(query, variables);
          isFailing = false;
          return data;
        } catch (error) {
          if (!isRetryable(error)) throw error;
          if (!(error instanceof ApiError && error.code === 'RATE_LIMITED')) {
            // One of several operations that are running reports it.
            if (!isFailing) options.onRetry?.(error.message);
            isFailing = true;
          }
          await delay(wait);
        }
      }
      return once<T>(query, variables);
    },
  };
}

class Unreachable extends CommandError {}

function isRetryable(error: unknown): error is Unreachable | ApiError {
  return error instanceof Unreachable || (error instanceof ApiError && RETRYABLE_CODES.includes(error.code));
}

/** API address from a server address with or without `/graphql`. @throws CommandError */
export function readServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CommandError(`--url got "${text}", expected an address such as http://127.0.0.1:4000`);
  if (!url.pathname.endsWith('/graphql')) url.pathname = `${url.pathname.replace(/\/$/, '')}/graphql`;
  return url.href;
}

/** Nothing that waiting changes: certificates that are not accepted, and a server that does not speak TLS. */
const LASTING_CODES: ReadonlySet<unknown> = new Set([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * Whether a request fails in the same way every time. Failures of the network have a code; what fetch refuses itself, such
 * as a port that browsers block, has none.
 */
function isForGood(error: unknown): boolean {
  if (!(error instanceof TypeError)) return false;
  const { cause } = error;
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return code === undefined || LASTING_CODES.has(code);
}

/** fetch only says "fetch failed"; the reason is in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message;
}

interface ConnectionOptions extends ActingOptions {
  readonly url: string;
  readonly token?: string | undefined;
}

/**
 * A client of a running server. Without a given token it signs one with the local key, which works if the server uses the
 * same JWT_SECRET or DATA_DIR.
 */
export async function connectToServer(
  context: CommandContext,
  options: ConnectionOptions,
): Promise<ApiClient> {
  const url = readServerUrl(options.url);
  const token = options.token ?? (await ownToken(context, 'import', options));
  const onRetry = (reason: string): void => {
    context.terminal.note(`${reason}. Trying again for half a minute.`);
  };
  return apiClient({ url, token, onRetry });
}
