export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

export interface RedisAddress {
  readonly hosts: readonly RedisHost[];
  /** The Unix socket of a server on this machine; the hosts do not count then. */
  readonly path?: string;
  readonly isTls: boolean;
  readonly username?: string;
  readonly password?: string;
  /** Database number; always 0 in a cluster. */
  readonly db: number;
}

const DEFAULT_PORT = 6379;
const URL_OF_REDIS = /^(rediss?):\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/(\d*))?(?:\?path=([^&#]+))?$/;
const START = /^rediss?:\/\//;
const HOST = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i;

/**
 * Parses `redis://` or `rediss://` URLs with optional user, password and database number, and one or more hosts separated by
 * commas. `?path=` names a Unix socket, as local databases have it.
 * @throws Error that does not contain the password.
 */
export function readRedisUrl(url: string): RedisAddress {
  const [, protocol, credentials = '', hosts = '', db = '', path] = URL_OF_REDIS.exec(url) ?? [];
  if (protocol === undefined)
    throw new Error(
      START.test(url)
        ? 'The URL of Redis must be like redis://user:password@host:6379/0: nothing may follow the database number, and a / or @ in a password is written as %2F or %40'
        : 'The URL of Redis must start with redis:// or rediss://',
    );
  const colon = credentials.indexOf(':');
  const username = decodeURIComponent(colon < 0 ? credentials : credentials.slice(0, colon));
  const password = colon < 0 ? '' : decodeURIComponent(credentials.slice(colon + 1));
  return {
    hosts: hosts.split(',').map(readHost),
    ...(path === undefined ? {} : { path: decodeURIComponent(path) }),
    isTls: protocol === 'rediss',
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    db: db === '' ? 0 : Number(db),
  };
}

function readHost(text: string): RedisHost {
  const [, host, port = String(DEFAULT_PORT)] = HOST.exec(text.trim()) ?? [];
  if (host === undefined) throw new Error(`The URL of Redis contains an invalid host: "${text}"`);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** For messages; omits the password. */
export function describeAddress({ hosts, path, isTls, db }: RedisAddress): string {
  if (path !== undefined) return path;
  const list = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${String(port)}`);
  return `${isTls ? 'rediss' : 'redis'}://${list.join(',')}${db === 0 ? '' : `/${String(db)}`}`;
}
