import { redact } from '../lib/redact.ts';
import { ConfigError, shape, type Config } from './config.ts';
import type { Environment } from './env.ts';
import { allSettings, type ConfigFault, type PartSettings, type Settings } from './part-settings.ts';
import type { Setting, SettingName, SettingValues } from './settings.ts';

/** What is declared in other rooms and passed in. */
export interface Brought {
  /** Names of the feed models. */
  readonly feedModels: readonly string[];
  /** Settings of the parts of the server. */
  readonly settings: readonly PartSettings<unknown>[];
}

export interface ReadConfigOptions extends Brought {
  /** Whether tokens will be verified, which requires a key in production. Default true. */
  readonly needsKey?: boolean;
}

/** Reads environment variables; empty ones count as not set. @throws ConfigError with all faults. */
export function readConfig(env: Environment, options: ReadConfigOptions): Config {
  const faults: ConfigFault[] = [];
  const all = allSettings(options.settings);
  const values = readSettings(all, env, faults);
  const own = [...faults];
  faults.push(...crossFaults(values, own, options));
  for (const part of options.settings) faults.push(...part.faults(values, own));
  if (faults.length > 0) throw new ConfigError(faults);
  const read = new Map(options.settings.map((part) => [part, deepFreeze(part.of(values))]));
  return Object.freeze({
    ...deepFreeze(shape(values as SettingValues, env)),
    settings: Object.freeze(all),
    of: <T>(part: PartSettings<T>): T => {
      if (!read.has(part))
        throw new Error(`Settings that were not read: ${Object.keys(part.settings).join()}`);
      // It was made by the same declaration.
      return read.get(part) as T;
    },
  });
}

function readSettings(all: Settings, env: Environment, faults: ConfigFault[]): Partial<SettingValues> {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of all) {
    const given = setting.isSecret ? env[name] : env[name]?.trim();
    const raw = given === undefined || given === '' ? setting.fallback : given;
    if (raw === null) continue;
    const read = setting.kind.schema.safeParse(raw);
    if (read.success) values[name] = read.data;
    else {
      const expected = read.error.issues[0]?.message ?? setting.kind.expects;
      faults.push({ name, message: `got ${shown(setting, raw)}, expected ${expected}` });
    }
  }
  return values;
}

/** Shorter HS256 keys can be guessed offline. Bytes. */
const MIN_PRODUCTION_KEY = 32;

/** Rules over several variables. Variables with a fault of their own are not checked again. */
function crossFaults(
  values: Partial<SettingValues>,
  faults: readonly ConfigFault[],
  options: ReadConfigOptions,
): ConfigFault[] {
  const found: ConfigFault[] = [];
  const say = (name: SettingName, message: string): void => {
    found.push({ name, message });
  };
  const { FEED_MODEL: model, DORMANT_AFTER: dormant = 0, DORMANT_DROP_AFTER: drop } = values;
  if (model !== undefined && !options.feedModels.includes(model))
    say('FEED_MODEL', `got "${model}", expected one of ${options.feedModels.join(', ')}`);
  if (values.JWT_SECRET !== undefined && values.JWKS_URI !== undefined)
    say('JWKS_URI', 'is set together with JWT_SECRET, expected one of them');
  if (values.REDIS_SENTINEL !== undefined && values.REDIS_URL === undefined)
    say('REDIS_SENTINEL', 'is set without REDIS_URL, expected the sentinels there');
  const outdated = values.MONGODB_URI === undefined ? null : outdatedReads(values.MONGODB_URI);
  if (outdated !== null) say('MONGODB_URI', outdated);
  if (drop !== undefined && drop < dormant)
    say('DORMANT_DROP_AFTER', 'is shorter than DORMANT_AFTER, expected at least that long');
  const { METRICS_PORT: metricsPort } = values;
  if (metricsPort !== undefined && metricsPort !== 0 && metricsPort === values.PORT)
    say('METRICS_PORT', `is ${String(metricsPort)}, the same as PORT, expected a different port`);
  for (const name of ['BODY_LIMIT', 'ANSWER_LIMIT'] as const) {
    const { [name]: each, [`${name}_TOTAL` as const]: total } = values;
    if (each !== undefined && total !== undefined && total < each)
      say(
        `${name}_TOTAL`,
        `got ${String(total)} bytes, expected at least ${name}, which is ${String(each)} bytes`,
      );
  }
  if (values.PERSISTED_OPERATIONS_ONLY === true && values.PERSISTED_OPERATIONS === undefined)
    say(
      'PERSISTED_OPERATIONS_ONLY',
      'is on without PERSISTED_OPERATIONS, expected a file of allowed operations',
    );
  found.push(...accountFaults(values, faults));
  return values.NODE_ENV === 'production' ? [...found, ...keyFaults(values, faults, options)] : found;
}

/** In production tokens are verified, with a key that nobody can guess. */
function keyFaults(
  { JWT_SECRET: secret, JWKS_URI: uri }: Partial<SettingValues>,
  faults: readonly ConfigFault[],
  { needsKey = true }: ReadConfigOptions,
): ConfigFault[] {
  const name = 'JWT_SECRET';
  if (secret === undefined) {
    const isNamed = faults.some((fault) => fault.name === name || fault.name === 'JWKS_URI');
    return needsKey && uri === undefined && !isNamed
      ? [{ name, message: 'is not set, expected it or JWKS_URI in production' }]
      : [];
  }
  const bytes = Buffer.byteLength(secret);
  if (bytes >= MIN_PRODUCTION_KEY) return [];
  const expected = `expected at least ${String(MIN_PRODUCTION_KEY)} bytes in production`;
  return [{ name, message: `got ${String(bytes)} bytes (not shown), ${expected}` }];
}

/** A provider signs with its own keys, and knows the console by an id. */
function accountFaults(
  { CONSOLE_OIDC_ISSUER: issuer, CONSOLE_OIDC_CLIENT_ID: id, JWKS_URI: uri }: Partial<SettingValues>,
  faults: readonly ConfigFault[],
): ConfigFault[] {
  const isNamed = (name: SettingName): boolean => faults.some((fault) => fault.name === name);
  const found: ConfigFault[] = [];
  const need = (name: SettingName, given: unknown, other: SettingName): void => {
    if (given === undefined && !isNamed(name))
      found.push({ name, message: `is not set, expected it while ${other} is set` });
  };
  if (issuer !== undefined) {
    need('CONSOLE_OIDC_CLIENT_ID', id, 'CONSOLE_OIDC_ISSUER');
    need('JWKS_URI', uri, 'CONSOLE_OIDC_ISSUER');
  }
  if (id !== undefined) need('CONSOLE_OIDC_ISSUER', issuer, 'CONSOLE_OIDC_CLIENT_ID');
  return found;
}

function shown(setting: Setting, raw: string): string {
  return setting.isSecret ? `${String(Buffer.byteLength(raw))} bytes (not shown)` : `"${redact(raw)}"`;
}

function deepFreeze<T>(value: T): T {
  // Byte arrays cannot be frozen.
  if (ArrayBuffer.isView(value)) return value;
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

/**
 * Describes the options of a MongoDB URI that would let reads miss earlier writes; follows the name of the setting in a
 * message. `null`: none. Every read must see each write that has returned, on any process. Option names are
 * case-insensitive.
 */
function outdatedReads(uri: string): string | null {
  const [, query = ''] = uri.split('?', 2);
  const options = new Map(
    [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]),
  );
  const preference = options.get('readpreference') ?? 'primary';
  if (preference !== 'primary')
    return `has readPreference=${preference}, expected primary: secondaries lag behind, and reads must see what was written`;
  const level = options.get('readconcernlevel') ?? 'local';
  const writes = options.get('w');
  if (writes === '0') return 'has w=0, expected writes to be acknowledged, such as by w=majority';
  if (level === 'available' || level === 'snapshot')
    return `has readConcernLevel=${level}, expected local: reads must see what was written`;
  // A majority read misses writes that only one member has confirmed.
  if (level === 'majority' && writes !== 'majority')
    return 'has readConcernLevel=majority without w=majority, expected both or neither: reads must see what was written';
  return null;
}

/** Adds the reactions of a host's configuration to the environment unless the environment sets them. */
export function withReactions(env: Environment, reactions: readonly string[] | null): Environment {
  if (reactions === null || (env['REACTIONS'] ?? '') !== '') return env;
  return { ...env, REACTIONS: reactions.join(',') };
}
