import { FeedClientError, networkError, statusError } from './errors.ts';
import type { OneReader } from './one-reader.ts';
import { isAnswer, type Answer, type Operation } from './transport.ts';

/** What a client talks to, and for whom. */
export interface Server {
  readonly url: string;
  readonly tenant?: string | undefined;
  /** How long it may say nothing. */
  readonly timeoutMs: number;
  readonly reader: OneReader;
}

export interface PostRequest {
  readonly server: Server;
  readonly token: string;
  readonly operation: Operation;
  readonly accept: string;
  readonly signal: AbortSignal;
}

/** @throws FeedClientError NETWORK, ORIGIN, READER_CHANGED */
export async function post(request: PostRequest): Promise<Response> {
  const response = await sent(request);
  if (!request.signal.aborted) request.server.reader.check((name) => response.headers.get(name));
  return response;
}

/** Elsewhere than in a browser it has neither. */
const page = globalThis as {
  readonly location?: { readonly origin: string };
  readonly document?: { readonly visibilityState: string };
};

/** A page may have 64 KiB of such requests under way. */
const KEPT_ALIVE = 16_000;

async function sent(request: PostRequest): Promise<Response> {
  const { server, token, operation, accept, signal } = request;
  const { url, reader, tenant } = server;
  const body = JSON.stringify(operation);
  try {
    return await fetch(url, {
      method: 'POST',
      headers: {
        ...{ accept, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...reader.headers,
        ...tenantIn(tenant),
      },
      body,
      cache: 'no-store',
      // What a page sends while it is hidden goes on when it is left.
      keepalive: body.length < KEPT_ALIVE && page.document?.visibilityState === 'hidden',
      signal,
    });
  } catch (error) {
    throw (await isRefusedOrigin(url, signal))
      ? new FeedClientError(
          'ORIGIN',
          `The server does not answer pages of ${location.origin}: its CORS_ORIGINS must have it`,
          { cause: error },
        )
      : networkError('The server cannot be reached', error);
  }
}

/** A browser tells a page nothing of why a request failed. One whose answer the page may not read does not fail. */
async function isRefusedOrigin(url: string, signal: AbortSignal): Promise<boolean> {
  const { location: at } = page;
  if (at === undefined || signal.aborted || new URL(url).origin === at.origin) return false;
  return fetch(url, { mode: 'no-cors', cache: 'no-store', credentials: 'omit', signal }).then(
    () => true,
    () => false,
  );
}

/** How an operator names a tenant, in headers and in the parameters of a socket. */
export function tenantIn(tenant: string | undefined): Readonly<Record<string, string>> {
  return tenant === undefined ? {} : { 'fanfare-tenant': tenant };
}

/** The answer that is the whole body. */
export async function answerOf(response: Response): Promise<Answer> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw networkError('The answer was incomplete', error);
  }
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // A page of HTML, most likely; the status tells more than where its syntax differs from JSON.
    throw statusError(response.status);
  }
  if (!isAnswer(answer)) throw statusError(response.status);
  return answer;
}
