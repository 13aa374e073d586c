import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { CorsOrigins } from '../config/config.ts';
import { buildSchema } from '../graphql/schema.ts';
import type { SessionEnds } from '../realtime/session-ends.ts';
import type { Services } from '../services/create-services.ts';
import { logListening } from '../telemetry/events/process.ts';
import { logSocketTrouble } from '../telemetry/events/requests.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createAuthenticator, type AuthOptions } from './identity/auth.ts';
import type { ConsoleOptions, DemoPerson } from './pages/console.ts';
import { EventStreams } from './sockets/event-streams.ts';
import { createGraphqlEndpoint } from './graphql-endpoint.ts';
import { GRAPHQL_PATH, requestPath, type Handler } from './exchange/handler.ts';
import { checkReadiness, type Probes, type Readiness } from './pages/health.ts';
import { Intake } from './limits/intake.ts';
import { DEFAULT_LIMITS, type HttpLimits } from './limits/limits.ts';
import { createNodeServer, listen } from './limits/node-server.ts';
import { createRequestObserver, type RequestObserver } from './exchange/observe.ts';
import { readPersistedFile, type PersistedFileOptions } from './execution/persisted-file.ts';
import { PersistedOperations } from './execution/persisted-operations.ts';
import type { RateLimits } from './limits/rate-limit.ts';
import { RequestLanes } from './limits/request-lanes.ts';
import { sendJson } from './exchange/respond.ts';
import { createRoutes } from './routes.ts';
import { PartCache } from './execution/shared-parts/part-cache.ts';
import { SubscriptionQuota } from './execution/subscription-quota.ts';
import { SocketServer } from './sockets/websocket.ts';
import { createGraphqlApp } from './execution/yoga.ts';

export interface HttpServerOptions {
  readonly services: Services;
  readonly auth: AuthOptions;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The query page at GET /graphql, to which / then leads. */
  readonly graphiql: boolean;
  /** The console at /console. Default: none. */
  readonly console?: boolean;
  /** Where its built files are; default: in the package. */
  readonly consoleFolder?: string;
  /** The token that was printed at start: filled into both pages for who started the process. Default: none. */
  readonly pageToken?: string | undefined;
  /** As whom the demo page can look at feeds, for who started the process. Default: as nobody. */
  readonly demoPeople?: (() => Promise<readonly DemoPerson[]>) | undefined;
  /** Whether the schema may be asked for, also without a token. */
  readonly introspection: boolean;
  /** Whose pages browsers let call the API. Default: none. */
  readonly corsOrigins?: CorsOrigins;
  /** What rendered parts of actions may take, in bytes, roughly. Default: 16 MiB. */
  readonly partBytes?: number;
  /** Instead of single defaults. */
  readonly limits?: Partial<HttpLimits>;
  /** Tells when all that a member has open is to end. */
  readonly sessionEnds: Pick<SessionEnds, 'onEnd'>;
  /** Absent: requests are not limited. */
  readonly rateLimits?: RateLimits;
  /** A file of operations that can be asked for by id, and whether users may ask for nothing else. Default: none. */
  readonly persistedOperations?: { readonly path: string; readonly isOnly: boolean } | undefined;
  /** Tells the errors that say the database or the like cannot be reached: clients get UNAVAILABLE. Default: none. */
  readonly isUnavailable?: (error: unknown) => boolean;
  readonly probes: Probes;
  /** Answers /ready instead of the probes: where several processes listen as one. */
  readonly readiness?: (() => Promise<Readiness>) | undefined;
  /** How /metrics is served; null: not here. Default: to everybody. */
  readonly metricsPage?: { readonly token?: string | undefined } | null;
  readonly metrics: Pick<
    Metrics,
    | 'requestFinished'
    | 'subscriberOpened'
    | 'liveEventSent'
    | 'liveResync'
    | 'watchReadCache'
    | 'contentType'
    | 'metrics'
  >;
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
}

/** The API of one process. Close it before what its services depend on. */
export interface HttpServer extends AsyncDisposable {
  /** Such as http://127.0.0.1:4000; the API is at /graphql below it. */
  readonly url: string;
  readonly port: number;
  stats(): {
    readonly requests: number;
    readonly sockets: number;
    readonly subscriptions: number;
    /** Bytes of bodies and messages under way, small ones left out. */
    readonly bodyBytes: number;
  };
  /**
   * Stops accepting, closes sockets with 1001, breaks event streams off and lets requests under way finish, for
   * `limits.shutdownMs` at most. Idempotent.
   */
  close(): Promise<void>;
}

const DEFAULT_PART_BYTES = 16 * 1_024 * 1_024;

/** Rejects when it cannot listen. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const limits: HttpLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const { services, sessionEnds, graphiql, introspection, rateLimits, probes, metrics, logger } = options;
  const observer = createRequestObserver(logger, metrics, options.isUnavailable ?? (() => false));
  const quota = new SubscriptionQuota(limits.maxSubscriptionsPerUser);
  const authenticate = createAuthenticator(options.auth, logger);
  const schema = buildSchema({ hasTenants: options.auth.tenantClaim !== undefined });
  const persisted = await openPersisted(options.persistedOperations, { schema, limits });
  const parts = new PartCache(options.partBytes ?? DEFAULT_PART_BYTES);
  const watchedParts = metrics.watchReadCache('parts', () => parts.lookups);
  const { yoga, shortWay } = createGraphqlApp({
    schema,
    services,
    graphiql,
    pageToken: options.pageToken,
    introspection,
    limits,
    corsOrigins: options.corsOrigins ?? [],
    parts,
    quota,
    rateLimits,
    persisted,
    observer,
    metrics,
  });
  const intake = new Intake(limits);
  const sockets = new SocketServer({
    yoga,
    authenticate,
    sessionEnds,
    limits,
    intake,
    rateLimits,
    persisted,
    observer,
    logger,
  });
  const streams = new EventStreams(sessionEnds);
  let closing: Promise<void> | null = null;
  const routes = createRoutes({
    graphql: createGraphqlEndpoint({
      yoga,
      shortWay,
      authenticate,
      services,
      streams,
      limits,
      intake,
      rateLimits,
      logger,
    }),
    graphiql,
    console: options.console === true ? consoleOf(options) : null,
    readiness: options.readiness ?? (() => checkReadiness(probes)),
    metrics: options.metricsPage === null ? null : { metrics, ...options.metricsPage },
    isClosing: () => closing !== null,
  });
  const requests = new Set<ServerResponse>();
  // Connections that have not sent a request yet: to Node they are neither idle nor busy, and closing waits for them.
  const silent = new Set<Duplex>();
  const lanes = new RequestLanes(limits.maxPipelined);
  const server = createNodeServer(limits);
  server.on('connection', (socket: Duplex) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    silent.delete(req.socket);
    lanes.enter(req, res, () => {
      requests.add(res);
      res.once('close', () => requests.delete(res));
      if (closing !== null) res.setHeader('connection', 'close');
      void answer(routes, observer, req, res);
    });
  });
  server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    silent.delete(socket);
    socket.on('error', (err) => {
      logSocketTrouble(logger, { err });
    });
    if (closing !== null) refuseUpgrade(socket, '503 Service Unavailable');
    else if (requestPath(req) !== GRAPHQL_PATH) refuseUpgrade(socket, '404 Not Found');
    else sockets.handleUpgrade(req, socket, head);
  });

  async function shutDown(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
    for (const socket of silent) socket.destroy();
    for (const res of requests) if (!res.headersSent) res.setHeader('connection', 'close');
    streams.close();
    const overdue = setTimeout(() => {
      server.closeAllConnections();
    }, limits.shutdownMs);
    await sockets.close();
    await closed;
    clearTimeout(overdue);
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
      requests: requests.size,
      sockets: sockets.size,
      subscriptions: quota.total,
      bodyBytes: intake.bytes,
    }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function consoleOf({ pageToken, demoPeople, consoleFolder }: HttpServerOptions): ConsoleOptions {
  return { token: pageToken, people: demoPeople, folder: consoleFolder };
}

async function openPersisted(
  given: HttpServerOptions['persistedOperations'],
  options: PersistedFileOptions,
): Promise<PersistedOperations | undefined> {
  if (given === undefined) return undefined;
  return new PersistedOperations(await readPersistedFile(given.path, options), given.isOnly);
}

async function answer(
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

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
