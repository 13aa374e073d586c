import type { IncomingMessage } from 'node:http';
import type { Identity } from '../domain/viewer.ts';
import { logTokenRefused } from '../telemetry/events.ts';
import type { HttpContext } from './http-context.ts';
import { acceptsEvents } from './exchange/accept.ts';
import { type Caller } from './identity/auth.ts';
import type { EventStreams } from './sockets/event-streams.ts';
import type { UnderWay } from './limits/answers.ts';
import { maxBodyOf, readJsonBody } from './limits/intake.ts';
import type { RequestContext } from './execution/operation-context.ts';
import { bodyFault } from './execution/plugins/request-guard.ts';
import { rateLimitHeaders, refusalFor, type ShareState } from './limits/rate-limit.ts';
import { isStream, send, sendJson, sendResponse, GRAPHQL_PATH, type Handler } from './exchange/respond.ts';
import type { PlainAnswer, ShortWay } from './execution/short-way.ts';
import type { YogaApp } from './execution/yoga.ts';

interface Executors {
  readonly yoga: YogaApp;
  readonly shortWay: ShortWay;
  readonly streams: EventStreams;
}

/**
 * Answers requests to /graphql. Reads token and body itself: a JSON body parsed before Yoga saves more than half of the time
 * of a small request. Faults in either are answered by Yoga, so that the answer has the headers and form that the client
 * requested.
 */
export function createGraphqlEndpoint(http: HttpContext, { yoga, shortWay, streams }: Executors): Handler {
  const { intake, answers, connections, addressOf } = http;
  return async (req, res) => {
    const startedAt = performance.now();
    if (!isHost(req.headers.host)) {
      sendJson(res, 400, { error: 'The Host header is invalid' });
      return;
    }
    const address = addressOf(req);
    const { identity, shares, refusal: refused } = await admit(http, req, address);
    const byTicket = ticketOf(req) !== null;
    const { socket: connection } = req;
    const caller: Caller = { identity, address, connection, byTicket, transport: 'http' };
    const mayStream = acceptsEvents(req.headers.accept ?? null);
    const lastEventId = lastEventIdOf(req);
    const { answer: making, room } = answers.open(caller);
    res.once('close', () => room[Symbol.dispose]());
    let answer: PlainAnswer | Response;
    {
      using underWay = intake.open(caller);
      const full = connections.hold(req.socket, caller);
      const refusal = refused ?? full ?? (await readBody(http, req, caller, underWay));
      const languages = req.headers['accept-language'];
      const traceparent = req.headers['traceparent']?.toString();
      const context: RequestContext = {
        ...{ caller, startedAt, mayStream, lastEventId, answer: making },
        ...{ languages, traceparent, refusal, shares },
      };
      answer =
        (await shortWay.answer(req, context)) ?? (await yoga.handleNodeRequestAndResponse(req, res, context));
    }
    // A stream may last for days.
    Object.assign(req, { body: undefined });
    const shareHeaders = rateLimitHeaders(shares);
    if (!('status' in answer)) {
      send(res, 200, answer.body, { ...answer.headers, ...shareHeaders });
      return;
    }
    for (const [name, value] of Object.entries(shareHeaders)) answer.headers.set(name, value);
    if (isStream(answer)) await streams.run(res, answer, identity);
    else await sendResponse(res, answer);
  };
}

/** Whether a valid URL can be built from it. Absent for HTTP 1.0. */
function isHost(host: string | undefined): boolean {
  return host === undefined || URL.canParse(`http://${host}${GRAPHQL_PATH}`);
}

/** The URL counts only if no header identifies the caller. */
function ticketOf({ method, url = '', headers }: IncomingMessage): string | null {
  if (method !== 'GET' || headers.authorization !== undefined || !url.includes('ticket=')) return null;
  return new URLSearchParams(url.slice(url.indexOf('?'))).get('ticket');
}

function lastEventIdOf({ headers }: IncomingMessage): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

interface Admission {
  readonly identity: Identity | null;
  /** The caller's use of their rate limits; the operation's cost is added once known. */
  readonly shares: ShareState[];
  /** Rejects the request whatever it asks. */
  readonly refusal?: Error;
}

async function admit(
  { authenticate, core, rateLimits, logger }: HttpContext,
  req: IncomingMessage,
  address: string,
): Promise<Admission> {
  // A preflight: browsers send it without a token, and it asks nothing.
  if (req.method === 'OPTIONS') return { identity: null, shares: [] };
  let identity: Identity | null = null;
  let refusal: Error | undefined;
  try {
    const ticket = ticketOf(req);
    const header = (name: string): string | undefined => req.headers[name]?.toString();
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
  refusal = refusalFor(shares) ?? refusal;
  return refusal === undefined ? { identity, shares } : { identity, shares, refusal };
}

/** Reads the body to where Yoga looks for a parsed one. Returns an error to reject the request with, if any. */
async function readBody(
  { limits }: HttpContext,
  req: IncomingMessage,
  caller: Caller,
  underWay: UnderWay,
): Promise<Error | undefined> {
  if (req.method !== 'POST' || bodyFault((name) => req.headers[name]) !== null) return undefined;
  try {
    const options = { maxBytes: maxBodyOf(caller, limits), bounds: limits.json, underWay };
    Object.assign(req, { body: await readJsonBody(req, options) });
    return undefined;
  } catch (error) {
    return toError(error);
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error('Something else than an error was thrown', { cause: thrown });
}
