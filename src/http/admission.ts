import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity } from '../domain/viewer.ts';
import { apiError } from '../graphql/errors.ts';
import { logTokenRefused } from '../telemetry/events.ts';
import { GRAPHQL_PATH, sendJson } from './exchange/respond.ts';
import type { HttpContext } from './http-context.ts';
import { READER_HEADER, refuseOther, type Caller } from './identity/auth.ts';
import { rateLimitHeaders, refusalFor, type ShareState } from './limits/rate-limit.ts';

interface Admission {
  readonly identity: Identity | null;
  /** The caller's use of their rate limits; the operation's cost is added once known. */
  readonly shares: ShareState[];
  /** Rejects the request whatever it asks. */
  readonly refusal?: Error;
}

/** Finds out whose a request is, and counts it. */
export async function admit(
  { authenticate, core, rateLimits, logger }: HttpContext,
  req: IncomingMessage,
  address: string,
): Promise<Admission> {
  // A preflight: browsers send it without a token, and it asks nothing.
  if (req.method === 'OPTIONS') return { identity: null, shares: [] };
  let identity: Identity | null = null;
  let refusal: Error | undefined;
  const header = (name: string): string | undefined => req.headers[name]?.toString();
  try {
    const ticket = ticketOf(req);
    identity =
      ticket === null
        ? await authenticate(req.headers.authorization, header)
        : await core.tickets.read(ticket, header);
  } catch (error) {
    refusal = toError(error);
    logTokenRefused(logger, { reason: refusal.message });
  }
  // Counted first, since rejected requests cost work, too.
  const shares = (await rateLimits?.countRequest({ identity, address })) ?? [];
  refusal = refusalFor(shares) ?? refusal ?? refuseOther(identity, header(READER_HEADER));
  return refusal === undefined ? { identity, shares } : { identity, shares, refusal };
}

/** The URL counts only if no header identifies the caller. */
export function ticketOf({ method, url = '', headers }: IncomingMessage): string | null {
  if (method !== 'GET' || headers.authorization !== undefined || !url.includes('ticket=')) return null;
  return new URLSearchParams(url.slice(url.indexOf('?'))).get('ticket');
}

/** Whether a valid URL can be built from it. Absent for HTTP 1.0. */
export function isHost(host: string | undefined): boolean {
  return host === undefined || URL.canParse(`http://${host}${GRAPHQL_PATH}`);
}

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('The thrown value is not an error', { cause: thrown });
}

interface Admitted {
  readonly caller: Caller;
  /** The caller's use of their rate limits, for the headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Admits a request to the path of a part. A ticket opens event streams only, so it identifies nobody here.
 * Rejects with what to refuse it with; `sendError` says that.
 */
export async function enter(http: HttpContext, req: IncomingMessage): Promise<Admitted> {
  if (!isHost(req.headers.host)) throw apiError('BAD_USER_INPUT', 'The Host header is invalid');
  const address = http.addressOf(req);
  const { identity, shares, refusal } = await admit(http, req, address);
  const byTicket = ticketOf(req) !== null;
  const caller: Caller = { identity, address, connection: req.socket, byTicket, transport: 'http' };
  const refused = refusal ?? http.connections.hold(req.socket, caller);
  if (refused != null) throw refused;
  if (byTicket) throw apiError('FORBIDDEN', 'A ticket can only open event streams');
  return { caller, headers: rateLimitHeaders(shares) };
}

interface HttpExtension {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers with an error as `{error, code}`. Internal errors are logged and masked, as at /graphql. */
export function sendError(
  { observer }: Pick<HttpContext, 'observer'>,
  res: ServerResponse,
  error: unknown,
): void {
  const { message, extensions } = observer.presentError(error);
  const { status, headers } = extensions['http'] as HttpExtension;
  sendJson(res, status, { error: message, code: extensions['code'] }, headers);
}
