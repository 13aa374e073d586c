import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { buildSchema } from '../graphql/schema.ts';
import { logListening, logSocketTrouble } from '../telemetry/events.ts';
import { createAddressOf } from './identity/addresses.ts';
import { createAuthenticator } from './identity/auth.ts';
import { EventStreams } from './sockets/event-streams.ts';
import type { HttpContext, HttpServerOptions } from './http-context.ts';
import { createGraphqlEndpoint } from './graphql-endpoint.ts';
import {
  GRAPHQL_PATH,
  requestPath,
  type Handler,
  sendJson,
  createRequestObserver,
  type RequestObserver,
} from './exchange/respond.ts';
import { Connections, createNodeServer, listen, SubscriptionQuota } from './limits/connections.ts';
import { Answers } from './limits/answers.ts';
import { Intake } from './limits/intake.ts';
import { DEFAULT_LIMITS, type HttpLimits } from './limits/limits.ts';
import { readPersistedFile, PersistedOperations } from './execution/persisted-operations.ts';
import { RequestLanes } from './limits/request-lanes.ts';
import { createRoutes } from './routes.ts';
import { PartCache } from './execution/shared-parts/part-cache.ts';
import { SocketServer } from './sockets/websocket.ts';
import { createGraphqlApp } from './execution/yoga.ts';

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
  const http = await openContext(options);
  const { limits, connections, intake, answers, quota, observer, addressOf, metrics, logger } = http;
  const parts = new PartCache(options.partBytes ?? DEFAULT_PART_BYTES);
  const watchedParts = metrics.watchReadCache('parts', () => parts.lookups);
  const { yoga, shortWay } = createGraphqlApp(http, parts);
  const sockets = new SocketServer(http, yoga);
  const streams = new EventStreams(http.core.sessionEnds);
  let closing: Promise<void> | null = null;
  const graphql = createGraphqlEndpoint(http, { yoga, shortWay, streams });
  const routes = createRoutes(http, graphql, () => closing !== null);
  const lanes = new RequestLanes(limits.maxPipelined);
  const server = createNodeServer(limits, connections);
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    lanes.enter(req, res, () => {
      connections.begin(req, res);
      if (closing !== null) res.setHeader('connection', 'close');
      void answer(routes, observer, req, res).finally(() => connections.wrote(req.socket));
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
  const { auth, logger, metrics, trustedProxies, persistedOperations: file = null } = options;
  const limits: HttpLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const schema = await buildSchema(auth);
  return {
    ...options,
    corsOrigins: options.corsOrigins ?? [],
    ...{ limits, schema },
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
