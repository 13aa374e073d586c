import {
  type Kind,
  accountRequest,
  duration,
  durationOrOff,
  networks,
  issuer,
  onOff,
  oneOf,
  origins,
  rate,
  secret,
  size,
  text,
  whole,
  wholeOrOff,
  url,
  reactions,
  weights,
} from './kinds.ts';
import { DEFAULT_REACTIONS } from '../domain/interaction.ts';
import { DEFAULT_RANKING } from '../domain/ranking.ts';
import { DEFAULT_WEIGHTS } from '../domain/relevancy.ts';

export type Group = 'Server' | 'Identity' | 'Databases' | 'Feeds' | 'Fan-out' | 'Live' | 'Events' | 'Logs';

/** One environment variable. Names, defaults and meanings are defined only in the tables below. */
export interface Setting<T = unknown> {
  readonly group: Group;
  readonly kind: Kind<T>;
  /** The default as written in the environment; `null`: optional, without a default. */
  readonly fallback: string | null;
  /** The default as shown in the docs when it differs from `fallback`. */
  readonly shownDefault: string;
  readonly meaning: string;
  /** The value is never printed, not even when it is invalid. */
  readonly isSecret: boolean;
  /** Section and name in the configuration of a value that is taken over as it is. */
  readonly as?: string | undefined;
}

/** A setting as its group lists it. */
export type SettingRow<T = unknown> = Omit<Setting<T>, 'group'>;

export function setting<T, const As extends string | undefined = undefined>(
  fallback: string,
  kind: Kind<T>,
  meaning: string,
  as?: As,
): SettingRow<T> & { readonly fallback: string; readonly as: As | undefined } {
  return { kind, fallback, meaning, as, shownDefault: fallback, isSecret: false };
}

export function optional<T, const As extends string | undefined = undefined>(
  kind: Kind<T>,
  meaning: string,
  more: { readonly shownDefault?: string; readonly isSecret?: boolean; readonly as?: As } = {},
): SettingRow<T> & { readonly fallback: null; readonly as: As | undefined } {
  return { kind, fallback: null, meaning, shownDefault: '–', isSecret: false, as: undefined, ...more };
}

export function grouped<S extends Readonly<Record<string, SettingRow>>>(name: Group, settings: S) {
  const rows = Object.entries(settings).map(([key, one]) => [key, { group: name, ...one }]);
  return Object.fromEntries(rows) as { readonly [N in keyof S]: S[N] & { readonly group: Group } };
}

const HOST_NAME = /^[\w.:-]+$/;
const SERVER_URL = /^https?:\/\/[^\s?#"<>]*[^\s?#"<>/]$/;
const PRINTABLE = /^\P{Cc}+$/u;

const SERVER_SETTINGS = grouped('Server', {
  PORT: setting('4000', whole(0, 65_535), 'Port to listen on; 0 takes a free one.', 'http.port'),
  HOST: setting('127.0.0.1', text('a host name or address', HOST_NAME), 'Address to listen on.', 'http.host'),
  NODE_ENV: setting(
    'development',
    oneOf(['development', 'test', 'production']),
    'In production, GraphiQL, the console and introspection are off by default, and JWT_SECRET or JWKS_URI is required.',
  ),
  GRAPHIQL: optional(onOff(), 'The query page for browsers.', {
    shownDefault: 'on; off in production',
  }),
  CONSOLE: optional(onOff(), 'The console for browsers, at /console.', {
    shownDefault: 'on; off in production',
  }),
  PUBLIC_URL: optional(
    text(
      'a URL that begins with https:// or http:// and has neither a query nor a slash at its end',
      SERVER_URL,
    ),
    'Address at which others reach the server, such as https://feed.example. Links in what leaves the server begin with it.',
  ),
  INTROSPECTION: optional(onOff(), 'Whether clients may query the schema.', {
    shownDefault: 'on; off in production',
  }),
  BODY_LIMIT: setting(
    '10MiB',
    size('1KiB', '64MiB'),
    'Maximum size of a request body or socket message for tokens with the role service or admin.',
    'http.maxBodyBytes',
  ),
  BODY_LIMIT_USER: setting(
    '256KiB',
    size('1KiB', '64MiB'),
    'Maximum size of a request body or socket message for other tokens; never more than BODY_LIMIT.',
    'http.maxUserBodyBytes',
  ),
  BODY_LIMIT_TOTAL: setting(
    '64MiB',
    size('1KiB', '4GiB'),
    'Maximum total size of bodies and messages in flight in one process; beyond it, large ones are answered with UNAVAILABLE. At least BODY_LIMIT.',
    'http.maxBodyBytesUnderWay',
  ),
  ANSWER_LIMIT: setting(
    '8MiB',
    size('64KiB', '64MiB'),
    'Maximum size of an answer or live event; larger ones are refused with BAD_USER_INPUT while they are made.',
    'http.maxAnswerBytes',
  ),
  ANSWER_LIMIT_TOTAL: setting(
    '64MiB',
    size('64KiB', '4GiB'),
    'Maximum total size of answers in one process from their first value until they are sent; beyond it, large ones are refused with UNAVAILABLE. At least ANSWER_LIMIT.',
    'http.maxAnswerBytesUnderWay',
  ),
  READ_TIMEOUT: setting(
    '8s',
    duration('1s', '1h'),
    'How long the reads of a query may take; then it is answered with UNAVAILABLE. Mutations are always finished. In a process without a worker also how long a single command may read.',
    'http.maxReadMs',
  ),
  READ_CACHE: setting(
    '64MiB',
    size('0KiB', '64GiB'),
    'Memory in which one process caches what it has read; 0KiB: no cache. Each use is checked against the database.',
  ),
  MAX_CONNECTIONS: setting(
    '10000',
    whole(1, 1_000_000),
    'Maximum number of open connections of one process; see limits.md for the share of each client.',
    'http.maxConnections',
  ),
  TRUSTED_PROXIES: optional(
    networks(),
    'Addresses and networks of the proxies in front, such as 10.0.0.0/8, separated by commas. From these, the address of a client is taken from X-Forwarded-For.',
  ),
  RATE_LIMIT: setting(
    'off',
    rate(),
    'Requests of one user, or of one address without a valid token, counted over all API processes on one Redis.',
    'rateLimits.requests',
  ),
  RATE_LIMIT_COST: setting(
    'off',
    rate('objects'),
    'Objects that operations of one user, or of one address without a valid token, may request, counted like RATE_LIMIT.',
    'rateLimits.cost',
  ),
  RATE_LIMIT_TENANT: setting(
    'off',
    rate(),
    'Requests of all users of one tenant, counted like RATE_LIMIT.',
    'rateLimits.tenantRequests',
  ),
  RATE_LIMIT_TENANT_COST: setting(
    'off',
    rate('objects'),
    'Objects that operations of all users of one tenant may request.',
    'rateLimits.tenantCost',
  ),
  TENANT_PUBLICATIONS: setting(
    'off',
    rate('publications'),
    'New actions of one tenant through the API, counted over all processes on one Redis.',
    'tenants.publications',
  ),
  TENANT_MEMBERS: optional(whole(1, 1_000_000_000), 'Members that one tenant may describe through the API.', {
    shownDefault: 'unlimited',
    as: 'tenants.members',
  }),
  DIRECTORY_SEARCH: setting(
    'staff',
    oneOf(['staff', 'members']),
    'Who may search members and refs by their names: staff, which are the roles service and admin, or members, which are all.',
    'directory.search',
  ),
  DIRECTORY_SEARCH_LIMIT: setting(
    '120/1m',
    rate('searches'),
    'Searches of one member without these roles, counted like RATE_LIMIT.',
    'directory.limit',
  ),
  REPORT_HIDE_AFTER: setting(
    'off',
    wholeOrOff(1, 500),
    'Number of members whose reports hide an action or interaction until a moderator has looked at it.',
    'safety.reportHideAfter',
  ),
  HOOK_FAILURE: setting(
    'open',
    oneOf(['open', 'closed']),
    'What happens if a hook of the configuration does not answer within 2 s: open accepts, closed refuses with UNAVAILABLE.',
    'safety.hookFailure',
  ),
  PERSISTED_OPERATIONS: optional(
    text('a file', PRINTABLE),
    'File of operations that clients request by id; see access.md.',
  ),
  PERSISTED_OPERATIONS_ONLY: setting(
    'off',
    onOff(),
    'Whether tokens without the role service or admin may run only these operations.',
  ),
  CORS_ORIGINS: optional(
    origins(),
    'Origins whose pages may call the API from a browser, such as https://app.example, separated by commas; * for all, or off.',
    { shownDefault: 'pages of this machine; off in production' },
  ),
  SOCKET_IDLE: setting(
    '5m',
    duration('1s', '24h'),
    'How long a socket without an operation stays open.',
    'http.socketIdleMs',
  ),
  METRICS_PORT: optional(
    whole(0, 65_535),
    'Separate port for /metrics, /health and /ready, also in workers without an API; PORT then does not serve /metrics.',
    { shownDefault: 'served on PORT' },
  ),
  METRICS_TOKEN: optional(
    secret(16),
    'Token that /metrics requires as `authorization: Bearer …`; at least 16 bytes.',
    { isSecret: true },
  ),
});

const ANY = /./;
/** Short claim names, and URLs for namespaced claims. */
const CLAIM_NAME = /^[\w.:/-]{1,128}$/;

const IDENTITY_SETTINGS = grouped('Identity', {
  JWT_SECRET: optional(secret(8), 'Key of HS256 tokens; at least 32 bytes in production, 8 elsewhere.', {
    shownDefault: 'generated and stored in DATA_DIR',
    isSecret: true,
  }),
  JWKS_URI: optional(url('https', 'http'), 'URL of the JWKS with the public keys of signed tokens.'),
  JWKS_MAX_AGE: setting(
    '5m',
    duration('1s', '24h'),
    'How long a key that was removed from the JWKS may still be accepted.',
    'auth.jwksMaxAgeMs',
  ),
  JWKS_MAX_STALE: setting(
    '24h',
    duration('1s', '5200w'),
    'How long known keys are accepted while JWKS_URI cannot be reached.',
    'auth.jwksMaxStaleMs',
  ),
  JWT_ISSUER: optional(text('a text', ANY), 'Required `iss` of tokens.'),
  JWT_AUDIENCE: optional(text('a text', ANY), 'Required `aud` of tokens.'),
  ROLES_CLAIM: setting(
    'roles',
    text('the name of a claim', CLAIM_NAME),
    'The token claim with the list of roles: its name or, if the token has none of that name, a path such as realm_access.roles.',
    'auth.rolesClaim',
  ),
  CONSOLE_OIDC_ISSUER: optional(
    issuer(),
    'Provider of OpenID Connect at which people sign in to the console, as it names itself; see console.md. Needs JWKS_URI and CONSOLE_OIDC_CLIENT_ID.',
  ),
  CONSOLE_OIDC_CLIENT_ID: optional(text('an id', PRINTABLE), 'Id of the console there, a public client.'),
  CONSOLE_OIDC_REQUEST: setting(
    'scope=openid offline_access',
    accountRequest(),
    'What the provider is asked for, as a query of scope, audience and resource.',
  ),
  TENANT_CLAIM: optional(
    text('the name of a claim', CLAIM_NAME),
    'The token claim that names the tenant; tokens without it are rejected. Not set: no tenants. Cannot be changed on a database with data.',
  ),
});

const MONGODB_NAME = /^[\w-]{1,63}$/;
const REDIS_PREFIX = /^[\w:.-]{1,64}$/;

const DATABASE_SETTINGS = grouped('Databases', {
  MONGODB_URI: optional(
    url('mongodb', 'mongodb+srv'),
    'Address of the database. Reads must go to its primary; other read preferences are rejected.',
    {
      shownDefault: 'starts a local engine',
    },
  ),
  MONGODB_DB: setting('fanfare', text('a database name', MONGODB_NAME), 'Name of the database.'),
  REDIS_URL: optional(
    url('redis', 'rediss'),
    'Address of Redis or Valkey; rediss for TLS. Several hosts, separated by commas, are the nodes of a cluster, or its sentinels if REDIS_SENTINEL is set.',
    { shownDefault: 'starts a local server' },
  ),
  REDIS_SENTINEL: optional(
    text('a name', REDIS_PREFIX),
    'Name of the primary at the sentinels in REDIS_URL.',
  ),
  REDIS_PREFIX: setting(
    'fanfare:',
    text('1 to 64 of letters, digits and _ : . -', REDIS_PREFIX),
    'Prefix of all keys and channels.',
  ),
  DATA_DIR: setting(
    '.fanfare',
    text('a folder', ANY),
    'Folder for the data of local engines and the generated secret.',
  ),
});

const MODEL_NAME = /^[a-z][a-z-]*$/;

const { types: _types, ...TOP_DEFAULTS } = DEFAULT_RANKING;

function inWords(weights: Readonly<Record<string, number>>): string {
  return Object.entries(weights)
    .map(([name, weight]) => `${name}=${String(weight)}`)
    .join(',');
}

const FEED_SETTINGS = grouped('Feeds', {
  FEED_MODEL: setting(
    'items',
    text('the name of a feed model', MODEL_NAME),
    'How feeds are stored: items, pull, or another feed model; docs/feed-models.md compares them.',
    'feeds.model',
  ),
  CELEBRITY_THRESHOLD: setting(
    '10000',
    whole(0, 1_000_000_000),
    'Actions of refs with more followers than this are not pushed into feeds but pulled when feeds are read.',
    'feeds.celebrityThreshold',
  ),
  FEED_CAP: setting(
    '1000',
    whole(1, 1_000_000),
    'Number of newest entries stored per feed; below them, the feed is read from the actions.',
    'feeds.cap',
  ),
  DORMANT_AFTER: setting(
    '7d',
    duration('1s', '5200w'),
    'Readers who have not read for this long get no deliveries; their feed is rebuilt when they come back.',
    'feeds.dormantAfterMs',
  ),
  DORMANT_DROP_AFTER: setting(
    '90d',
    durationOrOff('1s', '5200w'),
    'Stored feeds of readers who have not read for this long are deleted; at least DORMANT_AFTER.',
    'feeds.dropAfterMs',
  ),
  NEVER_READ_AFTER: setting(
    'off',
    durationOrOff('1s', '5200w'),
    'Readers who have not read within this time after their first delivery get no more deliveries, and nothing is stored for them until they read.',
    'feeds.neverReadAfterMs',
  ),
  REACTIONS: setting(
    DEFAULT_REACTIONS.join(','),
    reactions(),
    'Reactions that members may give. Existing reactions stay when one is removed from the list.',
    'feeds.reactions',
  ),
  IMPRESSIONS: setting(
    'off',
    onOff(),
    'Whether it is kept what members were shown, if clients say so, for ranked views; see feeds.md.',
    'feeds.impressions',
  ),
  RELEVANCY_WEIGHTS: setting(
    inWords(DEFAULT_WEIGHTS),
    weights(DEFAULT_WEIGHTS, 1),
    'How much less an interaction boosts an action for readers whom the action does not concern, by kind: 0 boosts to the time of the interaction, 1 not at all, values between reduce the boost by that share of the time between action and interaction. A higher value does not lower stored items.',
    'feeds.relevancyWeights',
  ),
  TOP_WEIGHTS: setting(
    inWords(TOP_DEFAULTS),
    weights(TOP_DEFAULTS, 100),
    'Order TOP: weights of the logarithms of the counts (like, comment, reshare) and of the reader’s interactions with the actor (relationship), and the exponent of the age in hours (decay).',
  ),
  TOP_TYPES: optional(
    weights({}, 100, null),
    'Order TOP: factors by descriptor type, such as Posted=1.5,Liked=0.5.',
    { shownDefault: '1 for all' },
  ),
});

const FAN_OUT_SETTINGS = grouped('Fan-out', {
  FAN_OUT_CHUNK: setting('1000', whole(1, 20_000), 'Readers written to at once.', 'fanOut.chunkSize'),
  FAN_OUT_LEASE: setting(
    '30s',
    duration('1s', '1h'),
    'Longest lease of a worker on its work. If it is not renewed for this long, another worker takes the work over. That of an action is at most 3 seconds at first, and longer the more often it was lost.',
    'fanOut.leaseMs',
  ),
  FAN_OUT_ATTEMPTS: setting(
    '5',
    whole(1, 100),
    'Failed attempts after which a fan-out is FAILED.',
    'fanOut.maxAttempts',
  ),
  WORKER_CONCURRENCY: setting(
    '16',
    whole(1, 64),
    'Actions of one lane that a worker fans out concurrently, with up to twelve chunks of readers at a time. Up to 64 small ones that are delivered together count as one.',
    'fanOut.concurrency',
  ),
  POLL_INTERVAL: setting(
    '1s',
    duration('10ms', '1m'),
    'How often an idle worker looks for work without a wake-up.',
    'fanOut.pollMs',
  ),
});

const LIVE_SETTINGS = grouped('Live', {
  LIVE_WINDOW: setting(
    '5m',
    duration('1s', '24h'),
    'How long a disconnected watcher can resume without missing events.',
    'live.windowMs',
  ),
  LIVE_EVENTS: setting('1000', whole(1, 100_000), 'Events kept per reader for resuming.', 'live.maxEvents'),
  LIVE_BUFFER: setting(
    '1000',
    whole(1, 100_000),
    'Unsent events of a slow watcher after which it must resync.',
    'live.maxBufferedEvents',
  ),
  SUBSCRIPTIONS_PER_CONNECTION: setting(
    '20',
    whole(1, 10_000),
    'Maximum number of subscriptions on one socket.',
    'live.maxSubscriptionsPerConnection',
  ),
  SUBSCRIPTIONS_PER_USER: setting(
    '100',
    whole(1, 100_000),
    'Maximum number of subscriptions of one user in one process.',
    'live.maxSubscriptionsPerUser',
  ),
});

const EVENT_SETTINGS = grouped('Events', {
  EVENT_RETENTION: setting(
    '7d',
    durationOrOff('1h', '5200w'),
    'How long events for hosts are kept; off: no events are recorded.',
  ),
  DIGEST_AFTER: setting(
    'off',
    durationOrOff('1s', '52w'),
    'How long a member must not have read before `digest.due` is recorded about their deliveries; off: never.',
  ),
  DIGEST_EVERY: setting(
    '1d',
    duration('1s', '52w'),
    'Minimum time between two `digest.due` events for the same member.',
  ),
});

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const LOG_SETTINGS = grouped('Logs', {
  LOG_LEVEL: setting(
    'info',
    oneOf(LOG_LEVELS),
    `Least severe level that is written: ${LOG_LEVELS.join(', ')}.`,
    'log.level',
  ),
});

/** All settings, in the order of the documentation. */
export const SETTINGS = {
  ...SERVER_SETTINGS,
  ...IDENTITY_SETTINGS,
  ...DATABASE_SETTINGS,
  ...FEED_SETTINGS,
  ...FAN_OUT_SETTINGS,
  ...LIVE_SETTINGS,
  ...EVENT_SETTINGS,
  ...LOG_SETTINGS,
} satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;

type ValueOf<S> = S extends { readonly kind: Kind<infer T> }
  ? S extends { readonly fallback: string }
    ? T
    : T | undefined
  : never;

export type ValuesOf<S> = { readonly [N in keyof S]: ValueOf<S[N]> };

export type SettingValues = ValuesOf<typeof SETTINGS>;

/** The settings that are taken over into a section of the configuration, by their names there. `undefined` becomes `null`. */
export type Section<Name extends string> = {
  readonly [
    N in SettingName as (typeof SETTINGS)[N]['as'] extends `${Name}.${infer Key}` | undefined ? Key : never
  ]: undefined extends SettingValues[N] ? Exclude<SettingValues[N], undefined> | null : SettingValues[N];
};

export function sectionOf<Name extends string>(name: Name, values: SettingValues): Section<Name> {
  const taken = (Object.entries(SETTINGS) as [SettingName, Setting][]).flatMap(([setting, { as = '' }]) => {
    const [section, key] = as.split('.');
    return section === name ? [[key, values[setting] ?? null]] : [];
  });
  return Object.fromEntries(taken) as Section<Name>;
}
