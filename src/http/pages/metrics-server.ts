import { logListening } from '../../telemetry/events.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { readOnly, requestPath, type Handler, sendJson } from '../exchange/respond.ts';
import { Connections, createNodeServer, listen } from '../limits/connections.ts';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { createMetricsPage, type MetricsPageOptions } from './metrics-page.ts';
import { probeRoutes, type Readiness } from './health.ts';
import { RequestLanes } from '../limits/request-lanes.ts';

export interface MetricsServerOptions extends MetricsPageOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly readiness: () => Promise<Readiness>;
  readonly logger: Logger;
}

export interface MetricsServer extends AsyncDisposable {
  readonly url: string;
}

/** Serves /metrics, /health and /ready, whose connections are not among those of the API. Rejects when it cannot listen. */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const routes = new Map<string, Handler>([
    ['/metrics', readOnly(createMetricsPage(options))],
    ...probeRoutes({ readiness: options.readiness, isClosing: () => false }),
  ]);
  const lanes = new RequestLanes(DEFAULT_LIMITS.maxPipelined);
  const connections = new Connections(DEFAULT_LIMITS, options.logger);
  const server = createNodeServer(DEFAULT_LIMITS, connections);
  server.on('request', (req, res) => {
    lanes.enter(req, res, () => {
      connections.begin(req, res);
      const path = requestPath(req);
      const handler = routes.get(path);
      if (handler === undefined) sendJson(res, 404, { error: 'Not found' });
      else
        Promise.resolve(handler(req, res)).catch(() => {
          sendJson(res, 500, { error: `${path} is not available` });
        });
    });
  });
  const { url } = await listen(server, options.host, options.port).catch((error: unknown) => {
    // The error names an address, and there are two ports.
    throw new Error(`METRICS_PORT=${String(options.port)} cannot be used`, { cause: error });
  });
  logListening(options.logger, { url: `${url}/metrics` });
  return {
    url,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        connections[Symbol.dispose]();
      }),
  };
}
