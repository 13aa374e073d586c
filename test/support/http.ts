import type { HttpServerOptions } from '../../src/http/http-context.ts';
import type { Route } from '../../src/http/route.ts';
import { startHttpServer, type HttpServer } from '../../src/http/server.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { buildSchema } from '../../src/app/schema.ts';
import { TEST_SECRET, type TestApp } from './app.ts';

/** A further API on the core of an app, for what the environment cannot set. */
export async function startTestHttp(
  app: Pick<TestApp, 'core'>,
  options: Partial<HttpServerOptions> = {},
  added: readonly Route[] = [],
): Promise<HttpServer> {
  const all: HttpServerOptions = {
    core: app.core,
    schema: options.schema ?? (await buildSchema(options.auth)),
    auth: { secret: TEST_SECRET },
    host: '127.0.0.1',
    port: 0,
    graphiql: false,
    introspection: true,
    probes: {},
    metrics: createMetrics({ withProcess: false }),
    logger: silentLogger(),
    ...options,
  };
  return startHttpServer(all, added);
}

/** Where the sockets of a server are opened. */
export function socketUrl(server: Pick<HttpServer, 'url'>): string {
  return `${server.url.replace(/^http/, 'ws')}/graphql`;
}
