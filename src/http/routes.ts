import { createConsole, isConsolePath } from './pages/console.ts';
import { GRAPHQL_PATH, readOnly, requestPath, type Handler, send, sendJson } from './exchange/respond.ts';
import { createMetricsPage } from './pages/metrics-page.ts';
import { checkReadiness, type Readiness } from './pages/health.ts';
import type { HttpContext } from './http-context.ts';

export interface ProbesOptions {
  readonly readiness: () => Promise<Readiness>;
  readonly isClosing: () => boolean;
}

export function createRoutes(http: HttpContext, graphql: Handler, isClosing: () => boolean): Handler {
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
    ['/health', readOnly((_req, res) => sendJson(res, 200, { status: 'ok' }, NO_STORE))],
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
