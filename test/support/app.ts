import { inject } from 'vitest';
import { createApp } from '../../src/app/app.ts';
import type { App } from '../../src/app/command-shapes.ts';
import { signToken } from '../../src/cli/token.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Identity, Role } from '../../src/domain/viewer.ts';
import { BROUGHT, METRICS } from '../../src/app/brought.ts';
import type { Core } from '../../src/core/core.ts';
import { openSession } from '../../src/feed/session/open-session.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import { servicesOf, type Services } from './services.ts';
import { borrowDatabase, openShared, returnDatabase } from './spare-databases.ts';

export const TEST_SECRET = 'a-secret-that-is-only-for-tests-0123456789';

export interface TestAppOptions {
  readonly api?: boolean;
  readonly worker?: boolean;
  readonly monitorCommands?: boolean;
  readonly waitsForRedis?: boolean;
  /** Where the lines of the log go. Default: a list of its own. */
  readonly log?: string[];
  /** Environment variables on top of those of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  /** Give the database of another app to share it. */
  readonly database?: string;
}

export interface GraphqlAnswer<T> {
  readonly status: number;
  readonly data: T | null;
  readonly errors: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

export interface TestApp extends AsyncDisposable {
  readonly app: App;
  /** What use cases take. */
  readonly core: Core;
  readonly services: Services;
  readonly url: string;
  readonly wsUrl: string;
  /** Name of the database; dropped at the end by the app that made it. */
  readonly database: string;
  /** What the app would read from its environment, for further processes beside it. */
  readonly env: Readonly<Record<string, string>>;
  /** Every log line so far. */
  readonly log: readonly string[];
  /** The page of figures as it is now; over HTTP it may be a second old. */
  readonly figures: Metrics['metrics'];
  token(sub: string, roles?: readonly Role[]): Promise<string>;
  query<T>(
    document: string,
    variables?: Readonly<Record<string, unknown>>,
    as?: { readonly sub: string; readonly roles?: readonly Role[] } | null,
  ): Promise<GraphqlAnswer<T>>;
  identity(userId: string, ...roles: Role[]): Identity;
  session(userId: string, ...roles: Role[]): ReaderSession;
  idle(): Promise<void>;
}

/** The whole app on the engine and the Redis of the test run, in a database of its own. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.database ?? (await borrowDatabase());
  const env = {
    MONGODB_URI: inject('mongodbUri'),
    REDIS_URL: inject('redisUrl'),
    MONGODB_DB: database,
    JWT_SECRET: TEST_SECRET,
    PORT: '0',
    RATE_LIMIT: 'off',
    // What this reads depends on when a worker comes to it, and the log of commands may not.
    NOTIFY_AFTER: 'off',
    ...options.env,
  };
  const config = readConfig(env, BROUGHT);
  const log = options.log ?? [];
  const logger = createLogger({ level: 'debug', sink: { write: (line) => void log.push(line) } });
  const metrics = createMetrics({ withProcess: false, parts: METRICS });
  const app = await createApp(
    config,
    {
      api: options.api ?? true,
      worker: options.worker ?? true,
      metrics: true,
      waitsForRedis: options.waitsForRedis ?? false,
    },
    {
      logger,
      metrics,
      monitorCommands: options.monitorCommands ?? false,
    },
  );
  const url = app.url ?? '';
  const token = (sub: string, roles: readonly Role[] = ['user']): Promise<string> =>
    signToken({ jwtSecret: TEST_SECRET }, { sub, roles, expiresAt: new Date(Date.now() + 3_600_000) });
  // Made once for each reader, as a client has it: the server need not verify another one with every request.
  const tokens = new Map<string, Promise<string>>();
  const tokenOf = (sub: string, roles: readonly Role[] = ['user']): Promise<string> => {
    const key = JSON.stringify([sub, roles]);
    const made = tokens.get(key) ?? token(sub, roles);
    tokens.set(key, made);
    return made;
  };
  const identity = (userId: string, ...roles: Role[]): Identity => ({
    userId,
    roles: new Set(roles.length === 0 ? ['user'] : roles),
    expiresAt: null,
  });
  return {
    app,
    core: app.core,
    services: servicesOf(app.core),
    url,
    wsUrl: `${url.replace(/^http/, 'ws')}/graphql`,
    database,
    env,
    log,
    figures: () => metrics.metrics(),
    token,
    identity,
    session: (userId, ...roles) => openSession(app.core, identity(userId, ...roles)),
    idle: () => app.idle(),
    async query<T>(
      document: string,
      variables: Readonly<Record<string, unknown>> = {},
      as: { readonly sub: string; readonly roles?: readonly Role[] } | null = { sub: 'reader' },
    ): Promise<GraphqlAnswer<T>> {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(as === null ? {} : { authorization: `Bearer ${await tokenOf(as.sub, as.roles)}` }),
        },
        body: JSON.stringify({ query: document, variables }),
      });
      const body = (await response.json()) as Partial<Pick<GraphqlAnswer<T>, 'data' | 'errors'>>;
      return { status: response.status, data: body.data ?? null, errors: body.errors ?? [] };
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      if (options.database !== undefined) return;
      await returnDatabase(await openShared(database));
    },
  };
}
