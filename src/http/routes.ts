import { createConsole, isConsolePath, type ConsoleOptions } from './pages/console.ts';
import { GRAPHQL_PATH, readOnly, requestPath, type Handler, send, sendJson } from './exchange/respond.ts';
import { createMetricsPage, type MetricsPageOptions } from './pages/metrics-page.ts';
import { type Readiness } from './pages/health.ts';

export interface ProbesOptions {
  readonly readiness: () => Promise<Readiness>;
  readonly isClosing: () => boolean;
}

export interface RoutesOptions extends ProbesOptions {
  readonly graphql: Handler;
  readonly graphiql: boolean;
  /** `null`: there is none. */
  readonly console: ConsoleOptions | null;
  /** `null`: /metrics is not served here. */
  readonly metrics: MetricsPageOptions | null;
}

export function createRoutes(options: RoutesOptions): Handler {
  const routes = new Map<string, Handler>([[GRAPHQL_PATH, options.graphql], ...probeRoutes(options)]);
  if (options.metrics !== null) routes.set('/metrics', readOnly(createMetricsPage(options.metrics)));
  if (options.graphiql)
    routes.set(
      '/',
      readOnly((_req, res) => {
        send(res, 302, '', { location: GRAPHQL_PATH });
      }),
    );
  const page = options.console === null ? undefined : createConsole(options.console);
  return (req, res) => {
    const path = requestPath(req);
    const handler = routes.get(path) ?? (isConsolePath(path) ? page : undefined);
    if (handler !== undefined) return handler(req, res);
    sendJson(res, 404, { error: 'Not found' });
  };
}

/** What orchestrators ask, by path. */
export function probeRoutes(options: ProbesOptions): [string, Handler][] {
  return [
    [
      '/health',
      readOnly((_req, res) => {
        sendJson(res, 200, { status: 'ok' }, NO_STORE);
      }),
    ],
    ['/ready', readOnly(answerReadiness(options))],
  ];
}

const NO_STORE = { 'cache-control': 'no-store' };

/** Concurrent requests share one run of the probes. */
function answerReadiness({ readiness, isClosing }: ProbesOptions): Handler {
  let asked: Promise<Readiness> | null = null;
  return async (_req, res) => {
    if (isClosing()) {
      sendJson(res, 503, { status: 'closing' }, NO_STORE);
      return;
    }
    asked ??= readiness().finally(() => {
      asked = null;
    });
    const { isReady, checks } = await asked;
    sendJson(res, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', checks }, NO_STORE);
  };
}
