import { describe, expect, it } from 'vitest';
import { DEFAULT_RANKING } from '../../../src/domain/ranking.ts';
import { DEFAULT_WEIGHTS } from '../../../src/domain/relevancy.ts';
import { BROUGHT } from '../../../src/app/brought.ts';
import { faultsOf } from '../../support/config.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Environment } from '../../../src/config/env.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { allSettings } from '../../../src/config/part-settings.ts';

const SETTINGS = Object.fromEntries(allSettings(BROUGHT.settings));
const KEY = 'k'.repeat(32);

function read(env: Environment, needsKey = true) {
  return readConfig(env, { ...BROUGHT, needsKey });
}

/** Also those of parts. */
function valuesOf({ of, ...config }: Config): object {
  return { ...config, parts: BROUGHT.settings.map(of) };
}

describe('readConfig', () => {
  it('takes a provider of accounts with its keys and an id, by https', () => {
    const given = {
      CONSOLE_OIDC_ISSUER: 'https://id.example/realms/staff',
      CONSOLE_OIDC_CLIENT_ID: 'console',
      JWKS_URI: 'https://id.example/keys',
    };
    expect(read(given).http.accounts).toEqual({
      issuer: 'https://id.example/realms/staff',
      clientId: 'console',
      request: { scope: 'openid offline_access' },
    });
    for (const name of ['CONSOLE_OIDC_ISSUER', 'CONSOLE_OIDC_CLIENT_ID', 'JWKS_URI'])
      expect(faultsOf({ ...given, [name]: '' })).toHaveProperty(name);
    for (const issuer of ['https://id.example/', 'http://localhost:8080', 'http://[::1]:8080/a'])
      expect(faultsOf({ ...given, CONSOLE_OIDC_ISSUER: issuer })).toEqual({});
    for (const issuer of [
      ...['http://id.example', 'https://id.example/?a', 'https://me:x@id.example', 'id.example'],
      ...['https://id.example:99999', "https://id.example;script-src'*'", 'https://*'],
    ])
      expect(Object.keys(faultsOf({ ...given, CONSOLE_OIDC_ISSUER: issuer })), issuer).toEqual([
        'CONSOLE_OIDC_ISSUER',
      ]);
    const request = 'scope=openid+email&audience=https://feed.example';
    expect(read({ ...given, CONSOLE_OIDC_REQUEST: request }).http.accounts?.request).toEqual({
      scope: 'openid email',
      audience: 'https://feed.example',
    });
    for (const wrong of ['scope=email', 'audience=a', 'scope=openid&prompt=none', 'scope=openid&resource='])
      expect(faultsOf({ ...given, CONSOLE_OIDC_REQUEST: wrong }), wrong).toHaveProperty(
        'CONSOLE_OIDC_REQUEST',
      );
  });

  it('has the documented defaults for an empty environment', () => {
    const config = read({});
    expect(config.http).toEqual({
      host: '127.0.0.1',
      port: 4000,
      graphiql: true,
      console: true,
      introspection: true,
      maxBodyBytes: 10_485_760,
      maxUserBodyBytes: 262_144,
      maxBodyBytesUnderWay: 67_108_864,
      maxAnswerBytes: 8 * 1024 * 1024,
      maxAnswerBytesUnderWay: 64 * 1024 * 1024,
      maxConnections: 10_000,
      trustedProxies: [],
      rateLimits: { requests: null, cost: null, tenantRequests: null, tenantCost: null },
      persistedOperations: null,
      corsOrigins: 'loopback',
      accounts: null,
      socketIdleMs: 300_000,
      maxReadMs: 8_000,
    });
    expect(config.auth).toEqual({
      jwksMaxAgeMs: 300_000,
      jwksMaxStaleMs: 86_400_000,
      rolesClaim: 'roles',
    });
    expect(config.metrics).toEqual({});
    expect(config.mongodb).toEqual({ db: 'fanfare' });
    expect(config.feeds).toMatchObject({
      model: 'items',
      celebrityThreshold: 10_000,
      cap: 1_000,
      dormantAfterMs: 7 * 24 * 3_600_000,
      dropAfterMs: 90 * 24 * 3_600_000,
      neverReadAfterMs: null,
    });
    expect(config.fanOut).toMatchObject({ chunkSize: 1_000, leaseMs: 30_000 });
    expect(config.live).toMatchObject({ windowMs: 300_000, maxEvents: 1_000 });
    expect(config.dataDir).toBe(`${process.cwd()}/.fanfare`);
  });

  it('reads values from the environment', () => {
    const config = read({
      PORT: '0',
      HOST: '::',
      MONGODB_URI: 'mongodb+srv://cluster.example/',
      REDIS_URL: 'rediss://cache.example:6380/2',
      FEED_MODEL: 'pull',
      DORMANT_AFTER: '1.5h',
      BODY_LIMIT: '64 kib',
      RATE_LIMIT: '600/1m',
      GRAPHIQL: 'Off',
      JWT_SECRET: ` ${KEY}`,
      LOG_LEVEL: ' debug ',
      XDG_CACHE_HOME: '/var/cache',
      DATA_DIR: '/data',
    });
    expect(config.http).toMatchObject({ port: 0, host: '::', graphiql: false, introspection: true });
    expect(config.http.maxBodyBytes).toBe(65_536);
    expect(config.http.rateLimits.requests).toEqual({ points: 600, perMs: 60_000 });
    expect(config.mongodb.uri).toBe('mongodb+srv://cluster.example/');
    expect(config.redis.url).toBe('rediss://cache.example:6380/2');
    expect(config.feeds).toMatchObject({ model: 'pull', dormantAfterMs: 5_400_000 });
    expect(config.log.level).toBe('debug');
    // A secret is taken to the letter: the signer does the same.
    expect(config.auth.jwtSecret).toBe(` ${KEY}`);
    expect(config).toMatchObject({ cacheDir: '/var/cache/fanfare', dataDir: '/data' });
  });

  it('reads origins as a list, all or none', () => {
    const origins = (CORS_ORIGINS: string) => read({ CORS_ORIGINS }).http.corsOrigins;
    expect(origins('https://a.example, http://b.example:8080')).toEqual([
      'https://a.example',
      'http://b.example:8080',
    ]);
    expect(origins('*')).toBe('*');
    expect(origins('off')).toEqual([]);
    expect(read({ NODE_ENV: 'production', JWT_SECRET: KEY }).http.corsOrigins).toEqual([]);
    for (const wrong of [
      'https://a.example/',
      'https://A.example',
      'a.example',
      'https://a.example,*',
      'null',
    ])
      expect(faultsOf({ CORS_ORIGINS: wrong })).toHaveProperty('CORS_ORIGINS');
  });

  it('requires different ports for metrics and API', () => {
    expect(faultsOf({ PORT: '4000', METRICS_PORT: '4000' })).toEqual({
      METRICS_PORT: 'is 4000, the same as PORT, expected a different port',
    });
    expect(read({ PORT: '0', METRICS_PORT: '0', METRICS_TOKEN: 'x'.repeat(16) }).metrics).toEqual({
      port: 0,
      token: 'x'.repeat(16),
    });
  });

  it('requires room for at least one body of the largest size', () => {
    expect(faultsOf({ BODY_LIMIT: '2MiB', BODY_LIMIT_TOTAL: '1MiB' })).toEqual({
      BODY_LIMIT_TOTAL: 'got 1048576 bytes, expected at least BODY_LIMIT, which is 2097152 bytes',
    });
    expect(faultsOf({ BODY_LIMIT: '2MiB', BODY_LIMIT_TOTAL: '2MiB' })).toEqual({});
  });

  it('requires DORMANT_DROP_AFTER to be at least DORMANT_AFTER', () => {
    expect(faultsOf({ DORMANT_AFTER: '7d', DORMANT_DROP_AFTER: '1d' })).toEqual({
      DORMANT_DROP_AFTER: 'is shorter than DORMANT_AFTER, expected at least that long',
    });
    expect(read({ DORMANT_DROP_AFTER: 'off', NEVER_READ_AFTER: '30d' }).feeds).toMatchObject({
      ...{ dropAfterMs: null, neverReadAfterMs: 30 * 24 * 3_600_000 },
    });
  });

  it('requires a list of operations if only listed ones are allowed', () => {
    expect(faultsOf({ PERSISTED_OPERATIONS_ONLY: 'on' })).toEqual({
      PERSISTED_OPERATIONS_ONLY: 'is on without PERSISTED_OPERATIONS, expected a file of allowed operations',
    });
    expect(
      read({ PERSISTED_OPERATIONS: '/ops.json', PERSISTED_OPERATIONS_ONLY: 'on' }).http.persistedOperations,
    ).toEqual({ path: '/ops.json', isOnly: true });
  });

  it('treats an empty variable as not set', () => {
    const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, '']));
    expect(valuesOf(read(empty))).toEqual(valuesOf(read({})));
  });

  it('is deeply frozen', () => {
    const config = read({ RATE_LIMIT: '1/1s' });
    for (const part of [config, config.http, config.http.rateLimits, config.feeds, config.log])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it('reports all faults together, with the given and the expected value', () => {
    const faults = faultsOf(
      {
        PORT: '65536',
        HOST: 'no host',
        NODE_ENV: 'prod',
        GRAPHIQL: 'maybe',
        BODY_LIMIT: '1',
        RATE_LIMIT: '0/1s',
        MONGODB_URI: 'http://db',
        REDIS_URL: 'localhost:6379',
        FEED_MODEL: 'itmes',
        FEED_CAP: '-1',
        DORMANT_AFTER: '7',
        FAN_OUT_LEASE: '10ms',
        LOG_LEVEL: 'loud',
        RELEVANCY_WEIGHTS: 'LIKE=1.1',
        TOP_WEIGHTS: 'love=1',
        TOP_TYPES: 'Posted',
      },
      { feedModels: ['items', 'pull'] },
    );
    expect(faults).toMatchInlineSnapshot(`
      {
        "BODY_LIMIT": "got "1", expected a size from 1KiB to 64MiB, such as 512KiB or 1MiB",
        "DORMANT_AFTER": "got "7", expected a duration from 1s to 5200w, such as 30s, 5m, 12h or 7d",
        "FAN_OUT_LEASE": "got "10ms", expected a duration from 1s to 1h, such as 30s or 5m",
        "FEED_CAP": "got "-1", expected a whole number from 1 to 1000000",
        "FEED_MODEL": "got "itmes", expected one of items, pull",
        "GRAPHIQL": "got "maybe", expected on or off",
        "HOST": "got "no host", expected a host name or address",
        "LOG_LEVEL": "got "loud", expected one of trace, debug, info, warn, error, fatal, silent",
        "MONGODB_URI": "got "http://db", expected a URL that begins with mongodb:// or mongodb+srv://",
        "NODE_ENV": "got "prod", expected one of development, test, production",
        "PORT": "got "65536", expected a whole number from 0 to 65535",
        "RATE_LIMIT": "got "0/1s", expected off, or requests per duration such as 600/1m",
        "REDIS_URL": "got "localhost:6379", expected a URL that begins with redis:// or rediss://",
        "RELEVANCY_WEIGHTS": "got "LIKE=1.1", expected numbers from 0 to 1 for COMMENT, RESHARE, LIKE, REACTION, such as COMMENT=1",
        "TOP_TYPES": "got "Posted", expected numbers from 0 to 100 by name, such as Posted=1",
        "TOP_WEIGHTS": "got "love=1", expected numbers from 0 to 100 for like, comment, reshare, decay, relationship, such as like=1",
      }
    `);
  });

  it('reads weights by name and keeps the defaults of the others', () => {
    const { relevancyWeights, ranking } = read({
      RELEVANCY_WEIGHTS: ' LIKE = 1 , COMMENT=0',
      TOP_WEIGHTS: 'decay=2,',
      TOP_TYPES: 'Posted=1.5,Liked=0',
    }).feeds;
    expect(relevancyWeights).toEqual({ ...DEFAULT_WEIGHTS, LIKE: 1, COMMENT: 0 });
    expect(ranking).toEqual({ ...DEFAULT_RANKING, decay: 2, types: { Posted: 1.5, Liked: 0 } });
    expect(read({}).feeds).toMatchObject({ relevancyWeights: DEFAULT_WEIGHTS, ranking: DEFAULT_RANKING });
    for (const wrong of ['LIKE=1,LIKE=0.5', 'LIKE', 'LIKE=-1', 'LIKE=1e1', '=1', 'LIKE=', 'like=1'])
      expect(Object.keys(faultsOf({ RELEVANCY_WEIGHTS: wrong })), wrong).toEqual(['RELEVANCY_WEIGHTS']);
  });

  it('rejects JWT_SECRET together with JWKS_URI', () => {
    expect(faultsOf({ JWT_SECRET: KEY, JWKS_URI: 'https://id.example/keys' })).toEqual({
      JWKS_URI: 'is set together with JWT_SECRET, expected one of them',
    });
  });

  it('rejects an invalid value of every setting with a format', () => {
    for (const [name, setting] of Object.entries(SETTINGS)) {
      if (setting.kind.expects === 'a text' || setting.kind.expects === 'a folder') continue;
      expect(Object.keys(faultsOf({ [name]: '\u0001' })), name).toEqual([name]);
    }
  });

  it('shows no secret in an error', () => {
    const faults = faultsOf({
      JWT_SECRET: 'hunter2',
      MONGODB_URI: 'mongo://bob:hunter2@db',
      REDIS_URL: 'x://:hunter2@r',
    });
    expect(Object.keys(faults).sort()).toEqual(['JWT_SECRET', 'MONGODB_URI', 'REDIS_URL']);
    expect(JSON.stringify(faults)).not.toContain('hunter2');
    expect(faults['JWT_SECRET']).toBe('got 7 bytes (not shown), expected at least 8 bytes');
  });

  describe('in production', () => {
    const production = { NODE_ENV: 'production' };

    it('disables GraphiQL, the console and introspection unless they are enabled', () => {
      expect(read({ ...production, JWT_SECRET: KEY }).http).toMatchObject({
        graphiql: false,
        console: false,
        introspection: false,
      });
      const config = read({
        ...production,
        JWKS_URI: 'https://id.example/keys',
        GRAPHIQL: 'on',
        CONSOLE: 'on',
        INTROSPECTION: '1',
      });
      expect(config.http).toMatchObject({ graphiql: true, console: true, introspection: true });
      expect(config.isProduction).toBe(true);
    });

    it('requires a key only where tokens are verified', () => {
      expect(faultsOf(production)).toEqual({
        JWT_SECRET: 'is not set, expected it or JWKS_URI in production',
      });
      expect(read(production, false).auth).not.toHaveProperty('jwtSecret');
    });

    it('reports an invalid key once', () => {
      for (const short of ['short', 'x'.repeat(31)])
        expect(Object.keys(faultsOf({ ...production, JWT_SECRET: short }))).toEqual(['JWT_SECRET']);
      expect(read({ JWT_SECRET: 'x'.repeat(8) }).auth.jwtSecret).toBe('x'.repeat(8));
    });
  });

  it('parses every default to the same value as from the environment', () => {
    const defaults = Object.fromEntries(
      Object.entries(SETTINGS).flatMap(([name, { fallback }]) =>
        fallback === null ? [] : [[name, fallback]],
      ),
    );
    expect(valuesOf(read(defaults))).toEqual(valuesOf(read({})));
  });
});
