import { DEFAULT_REACTIONS } from '../domain/interaction.ts';
import { DEFAULT_RANKING } from '../domain/ranking.ts';
import { DEFAULT_WEIGHTS } from '../domain/relevancy.ts';
import { webhookReceivers } from './webhook-receivers.ts';
import {
  duration,
  durationOrOff,
  onOff,
  oneOf,
  origins,
  rate,
  reactions,
  secret,
  size,
  text,
  url,
  weights,
  whole,
  type Kind,
} from './kinds.ts';

/** One environment variable. The table of these is the only place that knows names, defaults and meanings. */
export interface Setting<T = unknown> {
  readonly group: 'Server' | 'Identity' | 'Databases' | 'Feeds' | 'Fan-out' | 'Live' | 'Events' | 'Logs';
  readonly kind: Kind<T>;
  /** As it would be written in the environment; null: none, the setting is optional. */
  readonly fallback: string | null;
  /** What people read as the default where `fallback` does not say it. */
  readonly shownDefault: string;
  readonly meaning: string;
  /** Never shown, not even when it is wrong. */
  readonly isSecret: boolean;
}

type Group = Setting['group'];
type WithFallback<T> = Setting<T> & { readonly fallback: string };

function setting<T>(group: Group, fallback: string, kind: Kind<T>, meaning: string): WithFallback<T> {
  return { group, kind, fallback, shownDefault: fallback, meaning, isSecret: false };
}

function optional<T>(
  group: Group,
  kind: Kind<T>,
  meaning: string,
  more: { readonly shownDefault?: string; readonly isSecret?: boolean } = {},
): Setting<T> & { readonly fallback: null } {
  return { group, kind, fallback: null, meaning, shownDefault: '–', isSecret: false, ...more };
}

const { types: _types, ...TOP_DEFAULTS } = DEFAULT_RANKING;

function inWords(weights: Readonly<Record<string, number>>): string {
  return Object.entries(weights)
    .map(([name, weight]) => `${name}=${String(weight)}`)
    .join(',');
}

const HOST_NAME = /^[\w.:-]+$/;
const MONGODB_NAME = /^[\w-]{1,63}$/;
const REDIS_PREFIX = /^[\w:.-]{1,64}$/;
const MODEL_NAME = /^[a-z][a-z-]*$/;
const ANY = /./;
const PRINTABLE = /^\P{Cc}+$/u;
/** Short names, and URLs as namespaces have them. */
const CLAIM_NAME = /^[\w.:/-]{1,128}$/;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const SETTINGS = {
  PORT: setting('Server', '4000', whole(0, 65_535), 'Port to listen on; 0 takes a free one.'),
  HOST: setting('Server', '127.0.0.1', text('a host name or address', HOST_NAME), 'Address to listen on.'),
  NODE_ENV: setting(
    'Server',
    'development',
    oneOf(['development', 'test', 'production']),
    'In production GraphiQL, the console and introspection are off, and JWT_SECRET or JWKS_URI is required.',
  ),
  GRAPHIQL: optional('Server', onOff(), 'The query page for browsers.', {
    shownDefault: 'on; off in production',
  }),
  CONSOLE: optional('Server', onOff(), 'The console for browsers, at /console.', {
    shownDefault: 'on; off in production',
  }),
  INTROSPECTION: optional('Server', onOff(), 'Whether clients may ask for the schema.', {
    shownDefault: 'on; off in production',
  }),
  BODY_LIMIT: setting(
    'Server',
    '10MiB',
    size('1KiB', '64MiB'),
    'Largest request body and socket message of tokens with the role service or admin.',
  ),
  BODY_LIMIT_USER: setting(
    'Server',
    '256KiB',
    size('1KiB', '64MiB'),
    'Largest request body and socket message of other tokens; never more than BODY_LIMIT.',
  ),
  BODY_LIMIT_TOTAL: setting(
    'Server',
    '64MiB',
    size('1KiB', '4GiB'),
    'Bodies and messages under way in one process, in sum; beyond it large ones are answered UNAVAILABLE. At least BODY_LIMIT.',
  ),
  READ_CACHE: setting(
    'Server',
    '64MiB',
    size('0KiB', '64GiB'),
    'What one process holds of what it has read, to show it again; 0KiB: nothing. Each use is checked against the database.',
  ),
  MAX_CONNECTIONS: setting('Server', '10000', whole(1, 1_000_000), 'Open connections of one process.'),
  RATE_LIMIT: setting(
    'Server',
    'off',
    rate(),
    'Requests of one user, or of one address without a good token, in all API processes on one Redis together.',
  ),
  RATE_LIMIT_COST: setting(
    'Server',
    'off',
    rate('objects'),
    'Objects that operations of one user, or of one address without a good token, may ask for, counted as RATE_LIMIT is.',
  ),
  RATE_LIMIT_TENANT: setting(
    'Server',
    'off',
    rate(),
    'Requests of all users of one tenant, counted as RATE_LIMIT is.',
  ),
  RATE_LIMIT_TENANT_COST: setting(
    'Server',
    'off',
    rate('objects'),
    'Objects that operations of all users of one tenant may ask for.',
  ),
  TENANT_PUBLICATIONS: setting(
    'Server',
    'off',
    rate('publications'),
    'New actions of one tenant by the API, in all processes on one Redis together.',
  ),
  TENANT_MEMBERS: optional(
    'Server',
    whole(1, 1_000_000_000),
    'Members that one tenant may describe by the API.',
    { shownDefault: 'as many as they like' },
  ),
  PERSISTED_OPERATIONS: optional(
    'Server',
    text('a file', PRINTABLE),
    'File of operations that clients ask for by id; see access.md.',
  ),
  PERSISTED_OPERATIONS_ONLY: setting(
    'Server',
    'off',
    onOff(),
    'Whether tokens without the role service or admin may ask for nothing but these.',
  ),
  CORS_ORIGINS: optional(
    'Server',
    origins(),
    'Whose pages may call the API from a browser: origins such as https://app.example, separated by commas, * for all, or off.',
    { shownDefault: 'pages of this machine; off in production' },
  ),
  SOCKET_IDLE: setting(
    'Server',
    '5m',
    duration('1s', '24h'),
    'How long a socket may stay open without an operation.',
  ),
  METRICS_PORT: optional(
    'Server',
    whole(0, 65_535),
    'Port that serves /metrics, which PORT then does not; workers without an API serve it too.',
    { shownDefault: 'served on PORT' },
  ),
  METRICS_TOKEN: optional(
    'Server',
    secret(16),
    'What /metrics asks for as `authorization: Bearer …`; at least 16 bytes.',
    { isSecret: true },
  ),

  JWT_SECRET: optional(
    'Identity',
    secret(8),
    'Key of HS256 tokens; at least 32 bytes in production, 8 elsewhere.',
    {
      shownDefault: 'made and kept in DATA_DIR',
      isSecret: true,
    },
  ),
  JWKS_URI: optional('Identity', url('https', 'http'), 'Where to get the keys of signed tokens.'),
  JWKS_MAX_AGE: setting(
    'Identity',
    '5m',
    duration('1s', '24h'),
    'How long a key that was taken out of the JWKS may still be good.',
  ),
  JWKS_MAX_STALE: setting(
    'Identity',
    '24h',
    duration('1s', '5200w'),
    'How long known keys stay good while the server behind JWKS_URI cannot be reached.',
  ),
  JWT_ISSUER: optional('Identity', text('a text', ANY), 'Required `iss` of tokens.'),
  JWT_AUDIENCE: optional('Identity', text('a text', ANY), 'Required `aud` of tokens.'),
  TENANT_CLAIM: optional(
    'Identity',
    text('the name of a claim', CLAIM_NAME),
    'The claim of tokens that names the tenant; tokens without it are refused. Not set: one tenant has the server. Cannot be changed on a database with data.',
  ),

  MONGODB_URI: optional(
    'Databases',
    url('mongodb', 'mongodb+srv'),
    'The database. Reads go to its primary: other read preferences are refused.',
    {
      shownDefault: 'a local engine is started',
    },
  ),
  MONGODB_DB: setting('Databases', 'fanfare', text('a database name', MONGODB_NAME), 'Name of the database.'),
  REDIS_URL: optional(
    'Databases',
    url('redis', 'rediss'),
    'Redis or Valkey, rediss for TLS. Several hosts, separated by commas, are nodes of a cluster, or with REDIS_SENTINEL its sentinels.',
    { shownDefault: 'a local server is started' },
  ),
  REDIS_SENTINEL: optional(
    'Databases',
    text('a name', REDIS_PREFIX),
    'The name under which the sentinels that REDIS_URL gives know the primary.',
  ),
  REDIS_PREFIX: setting(
    'Databases',
    'fanfare:',
    text('1 to 64 of letters, digits and _ : . -', REDIS_PREFIX),
    'What all keys and channels begin with.',
  ),
  DATA_DIR: setting(
    'Databases',
    '.fanfare',
    text('a folder', ANY),
    'Data of local engines and the kept secret.',
  ),

  FEED_MODEL: setting(
    'Feeds',
    'items',
    text('the name of a feed model', MODEL_NAME),
    'How feeds are stored: items, capped, time-buckets, size-buckets, top-cache, redis or pull.',
  ),
  CELEBRITY_THRESHOLD: setting(
    'Feeds',
    '10000',
    whole(0, 1_000_000_000),
    'Actions of refs with more followers than this are not pushed into feeds but pulled when feeds are read.',
  ),
  FEED_CAP: setting(
    'Feeds',
    '1000',
    whole(1, 1_000_000),
    'Newest entries that are stored per feed; below them it is read from the actions.',
  ),
  DORMANT_AFTER: setting(
    'Feeds',
    '7d',
    duration('1s', '5200w'),
    'Readers who have not read for this long are not delivered to; their feed is rebuilt when they come back.',
  ),
  DORMANT_DROP_AFTER: setting(
    'Feeds',
    '90d',
    durationOrOff('1s', '5200w'),
    'What is stored of the feeds of readers who have not read for this long is deleted; at least DORMANT_AFTER.',
  ),
  NEVER_READ_AFTER: setting(
    'Feeds',
    'off',
    durationOrOff('1s', '5200w'),
    'How long after something first came to them readers who have never read are not delivered to, and nothing is stored for them, until they read.',
  ),

  REACTIONS: setting(
    'Feeds',
    DEFAULT_REACTIONS.join(','),
    reactions(),
    'The reactions that people may give. What was given stays when one is taken out.',
  ),
  RELEVANCY_WEIGHTS: setting(
    'Feeds',
    inWords(DEFAULT_WEIGHTS),
    weights(DEFAULT_WEIGHTS, 1),
    'How far below its own time an interaction boosts an action for readers it does not concern: a share of the time between the two. 0 boosts all the way, 1 not at all. Raising one lowers nothing that is stored.',
  ),
  TOP_WEIGHTS: setting(
    'Feeds',
    inWords(TOP_DEFAULTS),
    weights(TOP_DEFAULTS, 100),
    'Order TOP: what the logarithms of the counters and of the reader’s interactions with the actor add, and the power of the age in hours.',
  ),
  TOP_TYPES: optional(
    'Feeds',
    weights({}, 100, null),
    'Order TOP: factors by descriptor type, such as Posted=1.5,Liked=0.5.',
    { shownDefault: '1 for all' },
  ),

  FAN_OUT_CHUNK: setting('Fan-out', '1000', whole(1, 20_000), 'Readers written to at once.'),
  FAN_OUT_LEASE: setting(
    'Fan-out',
    '30s',
    duration('1s', '1h'),
    'How long a worker that went silent keeps its action before another takes it over.',
  ),
  FAN_OUT_ATTEMPTS: setting('Fan-out', '5', whole(1, 100), 'Failed attempts before an action is FAILED.'),
  WORKER_CONCURRENCY: setting(
    'Fan-out',
    '16',
    whole(1, 64),
    'Actions of one lane that a worker fans out side by side, twelve chunks of readers at a time.',
  ),
  POLL_INTERVAL: setting(
    'Fan-out',
    '1s',
    duration('10ms', '1m'),
    'How often an idle worker looks for work that no signal announced.',
  ),

  LIVE_WINDOW: setting(
    'Live',
    '5m',
    duration('1s', '24h'),
    'How long a watcher may be away and miss nothing.',
  ),
  LIVE_EVENTS: setting('Live', '1000', whole(1, 100_000), 'Events kept for that, per reader.'),
  LIVE_BUFFER: setting(
    'Live',
    '1000',
    whole(1, 100_000),
    'Unsent events of a slow watcher before it must resync.',
  ),
  SUBSCRIPTIONS_PER_CONNECTION: setting('Live', '20', whole(1, 10_000), 'Subscriptions on one socket.'),
  SUBSCRIPTIONS_PER_USER: setting(
    'Live',
    '100',
    whole(1, 100_000),
    'Subscriptions of one user in one process.',
  ),

  EVENT_RETENTION: setting(
    'Events',
    '7d',
    durationOrOff('1h', '5200w'),
    'How long events for hosts are kept, for hostEvents and webhooks; off: none are recorded.',
  ),

  DIGEST_AFTER: setting(
    'Events',
    'off',
    durationOrOff('1s', '52w'),
    'How long somebody has not read when `digest.due` is recorded for what came to them meanwhile; off: never.',
  ),
  DIGEST_EVERY: setting(
    'Events',
    '1d',
    duration('1s', '52w'),
    'Time between two `digest.due` for the same member, at least.',
  ),
  WEBHOOKS: optional(
    'Events',
    webhookReceivers(),
    'Where events are sent to, as JSON: `[{"url": "https://app.example/events", "secrets": ["whsec_…"]}]`; see events.md.',
    { isSecret: true, shownDefault: 'none' },
  ),
  WEBHOOK_TIMEOUT: setting(
    'Events',
    '10s',
    duration('100ms', '1m'),
    'How long a receiver may take to answer, from the look-up of its name to the end of the answer.',
  ),
  WEBHOOK_RETRY_FOR: setting(
    'Events',
    '3d',
    duration('1m', '52w'),
    'How long an event is tried before its delivery is FAILED; at most EVENT_RETENTION.',
  ),

  LOG_LEVEL: setting(
    'Logs',
    'info',
    oneOf(LOG_LEVELS),
    `Least severe level that is written: ${LOG_LEVELS.join(', ')}.`,
  ),
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;

type ValueOf<S> = S extends { readonly kind: Kind<infer T> }
  ? S extends { readonly fallback: string }
    ? T
    : T | undefined
  : never;

/** Every setting with its value. */
export type SettingValues = { readonly [N in SettingName]: ValueOf<(typeof SETTINGS)[N]> };
