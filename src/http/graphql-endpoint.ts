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
import { readJsonBody } from './read-json.ts';
import { isStream, sendResponse } from './respond.ts';
import type { YogaApp } from './yoga.ts';

export interface GraphqlEndpointOptions {
  readonly yoga: YogaApp;
  readonly authenticate: Authenticate;
  readonly streams: EventStreams;
  readonly limits: HttpLimits;
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
    const caller = { identity, address: req.socket.remoteAddress ?? '', transport: 'http' } as const;
    const mayStream = acceptsEvents(req.headers.accept ?? null);
    const context: RequestContext = { caller, startedAt, mayStream, refusal };
    const response = await yoga.handleNodeRequestAndResponse(req, res, context);
    if (isStream(response)) await streams.run(res, response, identity);
    else await sendResponse(res, response);
  };
}

interface Admission {
  readonly identity: Identity | null;
  /** Why the request is refused whatever it asks. */
  readonly refusal?: Error;
}

async function admit(options: GraphqlEndpointOptions, req: IncomingMessage): Promise<Admission> {
  const { authenticate, limits, logger } = options;
  let identity: Identity | null;
  try {
    identity = await authenticate(req.headers.authorization);
  } catch (error) {
    const refusal = toError(error);
    logTokenRefused(logger, { reason: refusal.message });
    return { identity: null, refusal };
  }
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
