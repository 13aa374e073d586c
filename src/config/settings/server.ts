import {
  duration,
  durationOrOff,
  networks,
  onOff,
  oneOf,
  origins,
  rate,
  secret,
  size,
  text,
  whole,
  wholeOrOff,
} from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting, optional } = settingsOf('Server');

const HOST_NAME = /^[\w.:-]+$/;
const PRINTABLE = /^\P{Cc}+$/u;

export const SERVER_SETTINGS = {
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
  PROCESS_SILENCE: setting(
    '30s',
    durationOrOff('1s', '1h'),
    'How long a process of `--processes` may hang before it is killed and restarted; off: never, for example for a debugger.',
    'processes.answerWithinMs',
  ),
  PROCESS_START_SILENCE: setting(
    '2m',
    durationOrOff('1s', '1h'),
    'The same for a starting process of `--processes`, which takes longer because it loads its code; waiting for a database does not count.',
    'processes.startAnswerWithinMs',
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
} as const;
