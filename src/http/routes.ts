import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Metrics } from '../telemetry/metrics.ts';
import { checkReadiness, type Probes } from './health.ts';
import { send, sendJson } from './respond.ts';

export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void> | void;

export interface RoutesOptions {
  readonly graphql: Handler;
  readonly graphiql: boolean;
  readonly probes: Probes;
  readonly isClosing: () => boolean;
  readonly metrics: Pick<Metrics, 'contentType' | 'metrics'>;
}

export const GRAPHQL_PATH = '/graphql';

/** The path of a request, without its query. */
export function pathOf({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** Everything the server answers, by path. */
export function createRoutes(options: RoutesOptions): Handler {
  const routes = new Map<string, Handler>([
    [GRAPHQL_PATH, options.graphql],
    [
      '/health',
      readOnly((_req, res) => {
        sendJson(res, 200, { status: 'ok' }, NO_STORE);
      }),
    ],
    ['/ready', readOnly((_req, res) => sendReadiness(options, res))],
    ['/metrics', readOnly((_req, res) => sendMetrics(options, res))],
  ]);
  if (options.graphiql)
    routes.set(
      '/',
      readOnly((_req, res) => {
        send(res, 302, '', { location: GRAPHQL_PATH });
      }),
    );
  return (req, res) => {
    const handler = routes.get(pathOf(req));
    if (handler !== undefined) return handler(req, res);
    sendJson(res, 404, { error: 'Not found' });
  };
}

const NO_STORE = { 'cache-control': 'no-store' };

function readOnly(handler: Handler): Handler {
  return (req, res) => {
    if (req.method === 'GET' || req.method === 'HEAD') return handler(req, res);
    sendJson(res, 405, { error: 'Method not allowed' }, { allow: 'GET, HEAD' });
  };
}

async function sendReadiness({ probes, isClosing }: RoutesOptions, res: ServerResponse): Promise<void> {
  if (isClosing()) {
    sendJson(res, 503, { status: 'closing' }, NO_STORE);
    return;
  }
  const { isReady, checks } = await checkReadiness(probes);
  sendJson(res, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', checks }, NO_STORE);
}

async function sendMetrics({ metrics }: RoutesOptions, res: ServerResponse): Promise<void> {
  const page = await metrics.metrics();
  send(res, 200, page, { 'content-type': metrics.contentType, ...NO_STORE });
}
