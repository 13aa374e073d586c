import { logListening } from '../../telemetry/events/process.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { requestPath, readOnly } from '../exchange/handler.ts';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { createMetricsPage, type MetricsPageOptions } from './metrics-page.ts';
import { createNodeServer, listen } from '../limits/node-server.ts';
import { RequestLanes } from '../limits/request-lanes.ts';
import { sendJson } from '../exchange/respond.ts';

export interface MetricsServerOptions extends MetricsPageOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly logger: Pick<Logger, 'info'>;
}

export interface MetricsServer extends AsyncDisposable {
  readonly url: string;
}

/** Serves /metrics only. Rejects when it cannot listen. */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const page = readOnly(createMetricsPage(options));
  const lanes = new RequestLanes(DEFAULT_LIMITS.maxPipelined);
  const server = createNodeServer(DEFAULT_LIMITS);
  server.on('request', (req, res) => {
    lanes.enter(req, res, () => {
      if (requestPath(req) !== '/metrics') sendJson(res, 404, { error: 'Not found' });
      else
        Promise.resolve(page(req, res)).catch(() => {
          sendJson(res, 500, { error: 'The metrics are not available' });
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
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
