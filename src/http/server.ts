import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { localeFor } from '../descriptors/registry.ts';
import { logListening, logSocketTrouble } from '../telemetry/events.ts';
import { admit, isHost, ticketOf, toError } from './admission.ts';
import { createAddressOf } from './identity/addresses.ts';
import { createAuthenticator, saidToReader, type Caller } from './identity/auth.ts';
import { EventStreams } from './sockets/event-streams.ts';
import {
  createRequestObserver,
  type HttpContext,
  type HttpServerOptions,
  type RequestObserver,
} from './http-context.ts';
import {
  GRAPHQL_PATH,
  requestPath,
  type Handler,
  sendJson,
  readOnly,
  send,
  isStream,
  sendResponse,
} from './exchange/respond.ts';
import { Connections, createNodeServer, listen, SubscriptionQuota } from './limits/connections.ts';
import { Answers, Intake, type UnderWay, maxBodyOf, readJsonBody } from './limits/intake.ts';
import { DEFAULT_LIMITS, type HttpLimits } from './limits/limits.ts';
import { readPersistedFile, PersistedOperations } from './execution/persisted-operations.ts';
import { RequestLanes } from './limits/request-lanes.ts';
import { PartCache } from './execution/shared-parts/part-cache.ts';
import { SocketServer } from './sockets/websocket.ts';
import { createGraphqlApp, type YogaApp } from './execution/yoga.ts';
import { createConsole, isConsolePath } from './pages/console.ts';
import { createMetricsPage } from './pages/metrics-page.ts';
import { checkReadiness, probeRoutes } from './pages/health.ts';
import { acceptsEvents } from './exchange/accept.ts';
import type { RequestContext } from './execution/operation-context.ts';
import { bodyFault } from './execution/plugins/request-guard.ts';
import { rateLimitHeaders } from './limits/rate-limit.ts';
import type { PlainAnswer, ShortWay } from './execution/short-way.ts';
import { routeFinder, type Route } from './route.ts';

/** The API of one process. Close it before the dependencies of its services. */
export interface HttpServer extends AsyncDisposable {
  /** Such as http://127.0.0.1:4000; the API is at /graphql below it. */
  readonly url: string;
  readonly port: number;
  stats(): {
    readonly requests: number;
    readonly sockets: number;
    readonly subscriptions: number;
    /** Bytes of bodies and messages in flight, without small ones. */
    readonly bodyBytes: number;
    /** Bytes of answers being made or sent, without small ones. */
    readonly answerBytes: number;
  };
  /**
   * Stops accepting, closes sockets with 1001, aborts event streams and lets requests in progress finish, for at most
   * `limits.shutdownMs`, and a second for clients that neither send nor read. Idempotent.
   */
  close(): Promise<void>;
}

const DEFAULT_PART_BYTES = 16 * 1_024 * 1_024;

/** @param added paths that parts answer. Rejects when it cannot listen. */
export async function startHttpServer(
  options: HttpServerOptions,
  added: readonly Route[] = [],
): Promise<HttpServer> {
  const http = await openContext(options);
  const { limits, connections, intake, answers, quota, observer, addressOf, metrics, logger } = http;
  const parts = new PartCache(options.partBytes ?? DEFAULT_PART_BYTES);
  const watchedParts = metrics.watchReadCache('parts', () => parts.lookups);
  const { yoga, shortWay } = createGraphqlApp(http, parts);
  const sockets = new SocketServer(http, yoga);
  const streams = new EventStreams(http.core.sessionEnds);
  let closing: Promise<void> | null = null;
  const graphql = createGraphqlEndpoint(http, { yoga, shortWay, streams });
  const routes = createRoutes(http, graphql, { added, isClosing: () => closing !== null });
  const lanes = new RequestLanes(limits.maxPipelined);
  const server = createNodeServer(limits, connections);
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    lanes.enter(req, res, () => {
      connections.begin(req, res);
      if (closing !== null) res.setHeader('connection', 'close');
      void answerRequest(routes, observer, req, res).finally(() => connections.wrote(req.socket));
    });
  });
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    connections.upgrade(socket);
    socket.on('error', (err) => logSocketTrouble(logger, { err }));
    if (closing !== null) refuseUpgrade(socket, '503 Service Unavailable');
    else if (requestPath(req) !== GRAPHQL_PATH) refuseUpgrade(socket, '404 Not Found');
    else if (connections.hold(socket, { identity: null, address: addressOf(req) }) !== null)
      refuseUpgrade(socket, '429 Too Many Requests');
    else sockets.handleUpgrade(req, socket, head);
  });

  async function shutDown(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    connections.close();
    streams.close();
    const overdue = setTimeout(() => connections[Symbol.dispose](), limits.shutdownMs);
    await sockets.close();
    await closed;
    clearTimeout(overdue);
    connections[Symbol.dispose]();
    await yoga.dispose();
    watchedParts[Symbol.dispose]();
  }

  const { port, url } = await listen(server, options.host, options.port);
  logListening(logger, { url });
  const close = (): Promise<void> => (closing ??= shutDown());
  return {
    url,
    port,
    stats: () => ({
      requests: connections.requests,
      sockets: sockets.size,
      subscriptions: quota.total,
      bodyBytes: intake.bytes,
      answerBytes: answers.bytes,
    }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function openContext(options: HttpServerOptions): Promise<HttpContext> {
  const { auth, logger, metrics, schema, trustedProxies, persistedOperations: file = null } = options;
  const limits: HttpLimits = { ...DEFAULT_LIMITS, ...options.limits };
  return {
    ...options,
    corsOrigins: options.corsOrigins ?? [],
    limits,
    authenticate: createAuthenticator(auth, logger),
    addressOf: createAddressOf(trustedProxies ?? []),
    persisted:
      file === null
        ? undefined
        : new PersistedOperations(await readPersistedFile(file.path, { schema, limits }), file.isOnly),
    intake: new Intake(limits),
    answers: new Answers(limits),
    connections: new Connections(limits, logger),
    quota: new SubscriptionQuota(limits.maxSubscriptionsPerUser),
    observer: createRequestObserver(logger, metrics, options.isUnavailable ?? (() => false)),
  };
}

async function answerRequest(
  routes: Handler,
  observer: RequestObserver,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  try {
    await routes(req, res);
  } catch (error) {
    const { message } = observer.presentError(error);
    if (res.headersSent) res.destroy();
    else sendJson(res, 500, { error: message });
  }
}

/** Does not wait for the client to end its half of the connection. */
function refuseUpgrade(socket: Socket, status: string): void {
  socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.destroySoon();
}

interface OtherRoutes {
  readonly added: readonly Route[];
  readonly isClosing: () => boolean;
}

function createRoutes(http: HttpContext, graphql: Handler, { added, isClosing }: OtherRoutes): Handler {
  const { metrics, metricsPage } = http;
  const readiness = http.readiness ?? (() => checkReadiness(http.probes));
  const routes = new Map<string, Handler>([
    [GRAPHQL_PATH, graphql],
    ...probeRoutes({ readiness, isClosing }),
  ]);
  if (metricsPage !== null) routes.set('/metrics', readOnly(createMetricsPage({ metrics, ...metricsPage })));
  if (http.graphiql)
    routes.set(
      '/',
      readOnly((_req, res) => send(res, 302, '', { location: GRAPHQL_PATH })),
    );
  const page = http.console === true ? createConsole(http) : undefined;
  const find = routeFinder(http, added);
  return (req, res) => {
    const path = requestPath(req);
    const handler = routes.get(path) ?? (isConsolePath(path) ? page : undefined) ?? find(path);
    if (handler !== undefined) return handler(req, res);
    sendJson(res, 404, { error: 'Not found' });
  };
}

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
function createGraphqlEndpoint(http: HttpContext, { yoga, shortWay, streams }: Executors): Handler {
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
    const locale = localeFor(req.headers['accept-language']);
    const { answer: making, room } = answers.open(caller);
    res.once('close', () => room[Symbol.dispose]());
    let answer: PlainAnswer | Response;
    {
      using underWay = intake.open(caller);
      const full = connections.hold(req.socket, caller);
      const refusal = refused ?? full ?? (await readBody(http, req, caller, underWay));
      const traceparent = req.headers['traceparent']?.toString();
      const context: RequestContext = {
        ...{ caller, startedAt, mayStream, lastEventId, answer: making },
        ...{ locale, traceparent, refusal, shares },
      };
      answer =
        (await shortWay.answer(req, context)) ?? (await yoga.handleNodeRequestAndResponse(req, res, context));
    }
    // A stream may last for days.
    Object.assign(req, { body: undefined });
    const ownHeaders = {
      ...rateLimitHeaders(shares),
      ...(identity === null ? {} : saidToReader(identity, locale)),
    };
    if (!('status' in answer)) {
      send(res, 200, answer.body, { ...answer.headers, ...ownHeaders });
      return;
    }
    for (const [name, value] of Object.entries(ownHeaders)) answer.headers.set(name, value);
    if (isStream(answer)) await streams.run(res, answer, identity);
    else await sendResponse(res, answer);
  };
}

function lastEventIdOf({ headers }: IncomingMessage): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
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
