import { duration, durationOrOff, onOff, oneOf, origins, rate, secret, size, text, whole } from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting, optional } = settingsOf('Server');

const HOST_NAME = /^[\w.:-]+$/;
const PRINTABLE = /^\P{Cc}+$/u;

export const SERVER_SETTINGS = {
  PORT: setting('4000', whole(0, 65_535), 'Port to listen on; 0 takes a free one.'),
  HOST: setting('127.0.0.1', text('a host name or address', HOST_NAME), 'Address to listen on.'),
  NODE_ENV: setting(
    'development',
    oneOf(['development', 'test', 'production']),
    'In production GraphiQL, the console and introspection are off, and JWT_SECRET or JWKS_URI is required.',
  ),
  GRAPHIQL: optional(onOff(), 'The query page for browsers.', {
    shownDefault: 'on; off in production',
  }),
  CONSOLE: optional(onOff(), 'The console for browsers, at /console.', {
    shownDefault: 'on; off in production',
  }),
  INTROSPECTION: optional(onOff(), 'Whether clients may ask for the schema.', {
    shownDefault: 'on; off in production',
  }),
  BODY_LIMIT: setting(
    '10MiB',
    size('1KiB', '64MiB'),
    'Largest request body and socket message of tokens with the role service or admin.',
  ),
  BODY_LIMIT_USER: setting(
    '256KiB',
    size('1KiB', '64MiB'),
    'Largest request body and socket message of other tokens; never more than BODY_LIMIT.',
  ),
  BODY_LIMIT_TOTAL: setting(
    '64MiB',
    size('1KiB', '4GiB'),
    'Bodies and messages under way in one process, in sum; beyond it large ones are answered UNAVAILABLE. At least BODY_LIMIT.',
  ),
  READ_CACHE: setting(
    '64MiB',
    size('0KiB', '64GiB'),
    'What one process holds of what it has read, to show it again; 0KiB: nothing. Each use is checked against the database.',
  ),
  MAX_CONNECTIONS: setting('10000', whole(1, 1_000_000), 'Open connections of one process.'),
  RATE_LIMIT: setting(
    'off',
    rate(),
    'Requests of one user, or of one address without a good token, in all API processes on one Redis together.',
  ),
  RATE_LIMIT_COST: setting(
    'off',
    rate('objects'),
    'Objects that operations of one user, or of one address without a good token, may ask for, counted as RATE_LIMIT is.',
  ),
  RATE_LIMIT_TENANT: setting('off', rate(), 'Requests of all users of one tenant, counted as RATE_LIMIT is.'),
  RATE_LIMIT_TENANT_COST: setting(
    'off',
    rate('objects'),
    'Objects that operations of all users of one tenant may ask for.',
  ),
  TENANT_PUBLICATIONS: setting(
    'off',
    rate('publications'),
    'New actions of one tenant by the API, in all processes on one Redis together.',
  ),
  TENANT_MEMBERS: optional(whole(1, 1_000_000_000), 'Members that one tenant may describe by the API.', {
    shownDefault: 'as many as they like',
  }),
  PERSISTED_OPERATIONS: optional(
    text('a file', PRINTABLE),
    'File of operations that clients ask for by id; see access.md.',
  ),
  PERSISTED_OPERATIONS_ONLY: setting(
    'off',
    onOff(),
    'Whether tokens without the role service or admin may ask for nothing but these.',
  ),
  CORS_ORIGINS: optional(
    origins(),
    'Whose pages may call the API from a browser: origins such as https://app.example, separated by commas, * for all, or off.',
    { shownDefault: 'pages of this machine; off in production' },
  ),
  PROCESS_SILENCE: setting(
    '30s',
    durationOrOff('1s', '1h'),
    'How long a process of `--processes` may hang before it is killed and started again; off: for ever, as under a debugger.',
  ),
  PROCESS_START_SILENCE: setting(
    '2m',
    durationOrOff('1s', '1h'),
    'The same for a process of `--processes` that starts, which loads its code first; waiting for a database does not count.',
  ),
  SOCKET_IDLE: setting('5m', duration('1s', '24h'), 'How long a socket may stay open without an operation.'),
  METRICS_PORT: optional(
    whole(0, 65_535),
    'Port that serves /metrics, which PORT then does not; workers without an API serve it too.',
    { shownDefault: 'served on PORT' },
  ),
  METRICS_TOKEN: optional(
    secret(16),
    'What /metrics asks for as `authorization: Bearer …`; at least 16 bytes.',
    { isSecret: true },
  ),
} as const;
