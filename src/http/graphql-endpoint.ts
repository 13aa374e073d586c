import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity } from '../domain/viewer.ts';
import { logTokenRefused } from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import { acceptsEvents } from './accept.ts';
import type { Authenticate } from './auth.ts';
import type { EventStreams } from './event-streams.ts';
import type { HttpLimits } from './limits.ts';
import type { RequestContext } from './operation-context.ts';
import { isJson } from './plugins/request-guard.ts';
import type { Services } from '../services/services.ts';
import { overRate, type RateLimiter } from './rate-limit.ts';
import { readJsonBody } from './read-json.ts';
import { isStream, sendResponse } from './respond.ts';
import type { YogaApp } from './yoga.ts';

export interface GraphqlEndpointOptions {
  readonly yoga: YogaApp;
  readonly authenticate: Authenticate;
  readonly services: Pick<Services, 'readTicket'>;
  readonly streams: EventStreams;
  readonly limits: HttpLimits;
  readonly rateLimiter: RateLimiter | undefined;
  readonly logger: Pick<Logger, 'debug'>;
}

/**
 * Answers requests to /graphql. Token and body are read here: a JSON body that is parsed before Yoga sees it saves
 * more than half of the time of a small request. What is wrong with either is Yoga's to answer, so that the answer
 * has the headers and the form that the client asked for.
 */
export function createGraphqlEndpoint(
  options: GraphqlEndpointOptions,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const { yoga, streams } = options;
  return async (req, res) => {
    const startedAt = performance.now();
    const { identity, refusal } = await admit(options, req);
    const byTicket = ticketOf(req) !== null;
    const ports = { remote: req.socket.remotePort, local: req.socket.localPort };
    const caller = { identity, address: addressOf(req), ports, byTicket, transport: 'http' } as const;
    const mayStream = acceptsEvents(req.headers.accept ?? null);
    const lastEventId = lastEventIdOf(req);
    const context: RequestContext = { caller, startedAt, mayStream, lastEventId, refusal };
    const response = await yoga.handleNodeRequestAndResponse(req, res, context);
    if (isStream(response)) await streams.run(res, response, identity);
    else await sendResponse(res, response);
  };
}

function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? '';
}

/** What stands in the URL counts only where no header says who asks. */
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
  /** Why the request is refused whatever it asks. */
  readonly refusal?: Error;
}

async function admit(options: GraphqlEndpointOptions, req: IncomingMessage): Promise<Admission> {
  const { authenticate, services, limits, rateLimiter, logger } = options;
  let identity: Identity | null = null;
  let refusal: Error | undefined;
  try {
    const ticket = ticketOf(req);
    identity =
      ticket === null ? await authenticate(req.headers.authorization) : await services.readTicket(ticket);
  } catch (error) {
    refusal = toError(error);
    logTokenRefused(logger, { reason: refusal.message });
  }
  // Counted before anything else is looked at: what is refused costs work too.
  if (req.method !== 'OPTIONS')
    refusal = (await overRate(rateLimiter, { identity, address: addressOf(req) })) ?? refusal;
  if (refusal !== undefined) return { identity, refusal };
  if (req.method !== 'POST' || !isJson(req.headers['content-type'])) return { identity };
  const maxBytes = identity === null ? limits.maxAnonymousBodyBytes : limits.maxBodyBytes;
  try {
    // Where Yoga looks for a body that has been parsed already.
    Object.assign(req, { body: await readJsonBody(req, Math.min(maxBytes, limits.maxBodyBytes)) });
    return { identity };
  } catch (error) {
    return { identity, refusal: toError(error) };
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error('Something else than an error was thrown', { cause: thrown });
}
