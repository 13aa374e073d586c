import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Environment } from './env.ts';
import type { ConfigFault, PartSettings, Settings } from './part-settings.ts';
import { type LOG_LEVELS, sectionOf, type SettingValues } from './settings.ts';

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Allowed origins. `loopback`: pages of this machine on any port. */
export type CorsOrigins = readonly string[] | '*' | 'loopback';

/** The whole configuration, read once at start and deeply frozen. Times are in milliseconds; `null`: off. */
export type Config = DeepReadonly<ReturnType<typeof shape>> & ConfigOfParts;

interface ConfigOfParts {
  /** What a part has of its settings. @throws Error for a part whose settings were not read */
  readonly of: <T>(part: PartSettings<T>) => T;
  /** All settings there are, with those of parts, in the order of the documentation. */
  readonly settings: Settings;
}

type DeepReadonly<T> = T extends Uint8Array
  ? T
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

export function shape(values: SettingValues, env: Environment) {
  const isProduction = values.NODE_ENV === 'production';
  return {
    isProduction,
    http: {
      ...sectionOf('http', values),
      graphiql: values.GRAPHIQL ?? !isProduction,
      console: values.CONSOLE ?? !isProduction,
      introspection: values.INTROSPECTION ?? !isProduction,
      trustedProxies: values.TRUSTED_PROXIES ?? [],
      rateLimits: sectionOf('rateLimits', values),
      persistedOperations:
        values.PERSISTED_OPERATIONS === undefined
          ? null
          : { path: resolve(values.PERSISTED_OPERATIONS), isOnly: values.PERSISTED_OPERATIONS_ONLY },
      corsOrigins: corsOrigins(values.CORS_ORIGINS, isProduction),
      accounts: accountsOf(values),
    },
    tenants: sectionOf('tenants', values),
    directory: sectionOf('directory', values),
    safety: sectionOf('safety', values),
    metrics: defined({ port: values.METRICS_PORT, token: values.METRICS_TOKEN }),
    auth: {
      ...defined({
        jwtSecret: values.JWT_SECRET,
        jwksUri: values.JWKS_URI,
        issuer: values.JWT_ISSUER,
        audience: values.JWT_AUDIENCE,
        tenantClaim: values.TENANT_CLAIM,
      }),
      ...sectionOf('auth', values),
    },
    mongodb: { ...defined({ uri: values.MONGODB_URI }), db: values.MONGODB_DB },
    redis: {
      ...defined({ url: values.REDIS_URL, sentinel: values.REDIS_SENTINEL }),
      prefix: values.REDIS_PREFIX,
    },
    dataDir: resolve(values.DATA_DIR),
    cacheDir: join(cacheHome(env['XDG_CACHE_HOME']), 'fanfare'),
    cacheBytes: values.READ_CACHE,
    feeds: {
      ...sectionOf('feeds', values),
      ranking: { ...values.TOP_WEIGHTS, types: values.TOP_TYPES ?? {} },
    },
    fanOut: sectionOf('fanOut', values),
    live: sectionOf('live', values),
    events: eventsOf(values),
    log: sectionOf('log', values),
  };
}

/** Sign-in to the console at the provider of the host's accounts. */
export interface Accounts {
  readonly issuer: string;
  readonly clientId: string;
  readonly request: Readonly<Record<string, string>>;
}

/** Complete, or none: see `read-config.ts`. */
function accountsOf(values: SettingValues): Accounts | null {
  const [issuer, clientId] = [values.CONSOLE_OIDC_ISSUER, values.CONSOLE_OIDC_CLIENT_ID];
  if (issuer === undefined || clientId === undefined) return null;
  return { issuer, clientId, request: values.CONSOLE_OIDC_REQUEST };
}

function eventsOf(values: SettingValues) {
  const hasEvents = values.EVENT_RETENTION !== undefined;
  return {
    retentionMs: values.EVENT_RETENTION ?? null,
    digests:
      hasEvents && values.DIGEST_AFTER !== undefined
        ? { afterMs: values.DIGEST_AFTER, everyMs: values.DIGEST_EVERY }
        : null,
  };
}

function corsOrigins(given: CorsOrigins | undefined, isProduction: boolean): CorsOrigins {
  return given ?? (isProduction ? [] : 'loopback');
}

/** Per the XDG specification, relative paths are ignored. */
function cacheHome(given: string | undefined): string {
  return given !== undefined && isAbsolute(given) ? given : join(homedir(), '.cache');
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** Lists every fault of the environment at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    const lines = faults.map((fault) => `  ${fault.name}: ${fault.message}`);
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${String(faults.length)} faults`}:\n${lines.join('\n')}`,
    );
    this.faults = faults;
  }
}
