import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CorsOrigins } from '../config/config.ts';
import { buildSchema } from '../graphql/schema.ts';
import type { SessionEnds } from '../live/session-ends.ts';
import type { Core } from '../features/core.ts';
import { logListening, logSocketTrouble } from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createAddressOf } from './identity/addresses.ts';
import { createAuthenticator, type AuthOptions } from './identity/auth.ts';
import type { ConsoleOptions, DemoPerson } from './pages/console.ts';
import { EventStreams } from './sockets/event-streams.ts';
import { createGraphqlEndpoint } from './graphql-endpoint.ts';
import {
  GRAPHQL_PATH,
  requestPath,
  type Handler,
  sendJson,
  createRequestObserver,
  type RequestObserver,
} from './exchange/respond.ts';
import { checkReadiness, type Probes, type Readiness } from './pages/health.ts';
import { Connections, createNodeServer, listen } from './limits/connections.ts';
import { Answers } from './limits/answers.ts';
import { Intake } from './limits/intake.ts';
import { DEFAULT_LIMITS, type HttpLimits } from './limits/limits.ts';
import {
  readPersistedFile,
  type PersistedFileOptions,
  PersistedOperations,
} from './execution/persisted-operations.ts';
import type { RateLimits } from './limits/rate-limit.ts';
import { RequestLanes } from './limits/request-lanes.ts';
import { createRoutes } from './routes.ts';
import { PartCache } from './execution/shared-parts/part-cache.ts';
import { SubscriptionQuota } from './execution/plugins/live-subscriptions.ts';
import { SocketServer } from './sockets/websocket.ts';
import { createGraphqlApp } from './execution/yoga.ts';

export interface HttpServerOptions {
  readonly core: Core;
  readonly auth: AuthOptions;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Serve the query page at GET /graphql and redirect / to it. */
  readonly graphiql: boolean;
  /** Serve the console at /console. Default: false. */
  readonly console?: boolean;
  /** Folder of its built files; default: in the package. */
  readonly consoleFolder?: string;
  /** Token printed at start, filled into both pages for the user who started the process. Default: none. */
  readonly pageToken?: string | undefined;
  /** People whose feeds the demo page can show to the user who started the process. Default: none. */
  readonly demoPeople?: (() => Promise<readonly DemoPerson[]>) | undefined;
  /** Allow introspection, also without a token. */
  readonly introspection: boolean;
  /** Origins whose pages may call the API. Default: none. */
  readonly corsOrigins?: CorsOrigins;
  /** Approximate memory bound for rendered parts of actions, in bytes. Default: 16 MiB. */
  readonly partBytes?: number;
  /** Proxies in front, as in TRUSTED_PROXIES. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** Override single defaults. */
  readonly limits?: Partial<HttpLimits>;
  /** Reports members whose open streams must end. */
  readonly sessionEnds: SessionEnds;
  /** Absent: requests are not limited. */
  readonly rateLimits?: RateLimits;
  /** File of operations that can be requested by id, and whether users may send no others. Default: none. */
  readonly persistedOperations?: { readonly path: string; readonly isOnly: boolean } | undefined;
  /** Recognises errors of services that cannot be reached: clients get UNAVAILABLE. Default: none. */
  readonly isUnavailable?: (error: unknown) => boolean;
  readonly probes: Probes;
  /** Answers /ready instead of the probes, for a group of processes. */
  readonly readiness?: (() => Promise<Readiness>) | undefined;
  /** How to serve /metrics; `null`: not here. Default: for everybody. */
  readonly metricsPage?: { readonly token?: string | undefined } | null;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

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

/** Rejects when it cannot listen. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const limits: HttpLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const { core, sessionEnds, graphiql, introspection, rateLimits, probes, metrics, logger } = options;
  const observer = createRequestObserver(logger, metrics, options.isUnavailable ?? (() => false));
  const quota = new SubscriptionQuota(limits.maxSubscriptionsPerUser);
  const authenticate = createAuthenticator(options.auth, logger);
  const schema = await buildSchema({ hasTenants: options.auth.tenantClaim !== undefined });
  const persisted = await openPersisted(options.persistedOperations, { schema, limits });
  const parts = new PartCache(options.partBytes ?? DEFAULT_PART_BYTES);
  const watchedParts = metrics.watchReadCache('parts', () => parts.lookups);
  const { yoga, shortWay } = createGraphqlApp({
    schema,
    core,
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
  const connections = new Connections(limits, logger);
  const addressOf = createAddressOf(options.trustedProxies ?? []);
  const answers = new Answers(limits);
  const sockets = new SocketServer({
    yoga,
    authenticate,
    sessionEnds,
    limits,
    intake,
    connections,
    addressOf,
    answers,
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
      core,
      streams,
      limits,
      intake,
      connections,
      addressOf,
      answers,
      rateLimits,
      logger,
    }),
    graphiql,
    console: options.console === true ? consoleOf(options) : null,
    readiness: options.readiness ?? (() => checkReadiness(probes)),
    metrics: options.metricsPage === null ? null : { metrics, ...options.metricsPage },
    isClosing: () => closing !== null,
  });
  const lanes = new RequestLanes(limits.maxPipelined);
  const server = createNodeServer(limits, connections);
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    lanes.enter(req, res, () => {
      connections.begin(req, res);
      if (closing !== null) res.setHeader('connection', 'close');
      void answer(routes, observer, req, res).finally(() => {
        connections.wrote(req.socket);
      });
    });
  });
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    connections.upgrade(socket);
    socket.on('error', (err) => {
      logSocketTrouble(logger, { err });
    });
    if (closing !== null) refuseUpgrade(socket, '503 Service Unavailable');
    else if (requestPath(req) !== GRAPHQL_PATH) refuseUpgrade(socket, '404 Not Found');
    else if (connections.hold(socket, { identity: null, address: addressOf(req) }) !== null)
      refuseUpgrade(socket, '429 Too Many Requests');
    else sockets.handleUpgrade(req, socket, head);
  });

  async function shutDown(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
    connections.close();
    streams.close();
    const overdue = setTimeout(() => {
      connections[Symbol.dispose]();
    }, limits.shutdownMs);
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

/** Does not wait for the client to end its half of the connection. */
function refuseUpgrade(socket: Socket, status: string): void {
  socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.destroySoon();
}
