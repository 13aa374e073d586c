import { Redis, type RedisOptions as AllClientOptions } from 'ioredis';
import { allEnded } from '../lib/closer.ts';

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

/** Publish and subscribe on a single Redis, or sharded pub/sub on a cluster, where the channel name decides the slot. */
export interface PubSub {
  /** Event that the subscribing client emits for a message. */
  readonly event: 'message' | 'smessage';
  subscribe(client: RedisClient, channels: readonly string[]): Promise<unknown>;
  unsubscribe(client: RedisClient, channels: readonly string[]): Promise<unknown>;
  publish(client: RedisClient, channel: string, message: string): Promise<unknown>;
}

const PLAIN: PubSub = {
  event: 'message',
  subscribe: (client, channels) => client.subscribe(...channels),
  unsubscribe: (client, channels) => client.unsubscribe(...channels),
  publish: (client, channel, message) => client.publish(channel, message),
};

const SHARDED: PubSub = {
  event: 'smessage',
  subscribe: (client, channels) => client.ssubscribe(...channels),
  unsubscribe: (client, channels) => client.sunsubscribe(...channels),
  publish: (client, channel, message) => client.spublish(channel, message),
};

export function pubSubOf({ isSharded }: { readonly isSharded: boolean }): PubSub {
  return isSharded ? SHARDED : PLAIN;
}

/** An ioredis connection. Commands fail immediately while it is down; it reconnects on its own until closed. */
export type RedisClient = Redis;
export type ClientTarget = Omit<AllClientOptions, 'replyMapping'>;

export const DEFAULT_CONNECT_TIMEOUT_MS = 5000;

type RedisRole = 'commands' | 'subscriber';

export interface RedisOptions {
  /** `redis://` or `rediss://` with optional user, password and database number. */
  readonly url: string;
  /** Name of the primary at the sentinels; the hosts of the URL are then sentinels. */
  readonly sentinel?: string | undefined;
  /** Shown by CLIENT LIST. Default `fanfare`. */
  readonly name?: string;
  /** Milliseconds until an unanswered command fails. Default 2000. */
  readonly commandTimeoutMs?: number;
  /** Milliseconds until an attempt to connect fails. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** Called when the first attempt fails; connecting continues. Absent: the first failure is final. */
  readonly onWaiting?: (error: unknown) => void;
  /** Called for connection errors; more attempts follow each one. The same error may repeat. */
  readonly onError?: (role: string, error: Error) => void;
  /** Called when an established connection is lost; it is being reopened. */
  readonly onLost?: (role: string) => void;
  /** Called whenever a connection becomes usable, first time and after each loss. */
  readonly onReady?: (role: string) => void;
}

/** A process's connections to one Redis: one for commands and one for SUBSCRIBE. */
export interface RedisConnections extends AsyncDisposable {
  /** Channels are bound to slots, see `pubSubOf`. */
  readonly isSharded: boolean;
  readonly commands: RedisClient;
  /** Does not resubscribe after a loss: its users do, since they need the acknowledgement. */
  readonly subscriber: RedisClient;
  /** Rejects when either connection is down or does not answer in time. */
  ping(): Promise<void>;
  /** Idempotent; resolves when both sockets are closed. */
  close(): Promise<void>;
}

/**
 * Opens both connections and waits until they are usable.
 * @throws Error with the server's address but not the password, when the URL is invalid, or when the first attempt fails and
 *   `onWaiting` is absent.
 */
export async function connectRedis(options: RedisOptions): Promise<RedisConnections> {
  const address = readRedisUrl(options.url);
  const described = describeAddress(address);
  const [first] = address.hosts;
  if (options.sentinel === undefined && (first === undefined || address.hosts.length > 1))
    throw new Error(`Several hosts are a cluster, or sentinels with REDIS_SENTINEL: ${described}`);
  const { username, password, path, db, isTls } = address;
  const direct = path === undefined ? (first ?? {}) : { path };
  const target = options.sentinel === undefined ? direct : sentinelsOf(address, options.sentinel);
  return openConnections(
    {
      ...target,
      db,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(isTls ? { tls: {} } : {}),
    },
    { ...options, isSharded: false, described },
  );
}

function sentinelsOf({ hosts, isTls }: RedisAddress, name: string): ClientTarget {
  return {
    sentinels: [...hosts],
    name,
    ...(isTls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
  };
}

/** Like `connectRedis`, for a given target. */
export async function openConnections(
  target: ClientTarget,
  options: RedisOptions & { readonly isSharded: boolean; readonly described: string },
): Promise<RedisConnections> {
  const { isSharded, described: address } = options;
  let closing: Promise<void> | null = null;
  const isClosing = (): boolean => closing !== null;
  const commands = openClient('commands', target, options, isClosing);
  const subscriber = openClient('subscriber', target, options, isClosing);
  // The slot has moved: the node ended the subscriptions, and a new connection will find the new owner.
  subscriber.on('moved', () => subscriber.disconnect(true));
  const close = (): Promise<void> =>
    (closing ??= allEnded(
      [closeClient(commands), closeClient(subscriber)],
      `Cannot disconnect from Redis at ${address}`,
    ));
  try {
    await Promise.all([connectFirst(commands), connectFirst(subscriber)]);
  } catch (cause) {
    const error = new Error(`Cannot connect to Redis at ${address}`, { cause });
    if (options.onWaiting === undefined) {
      await close();
      throw error;
    }
    options.onWaiting(error);
    await Promise.all([whenReady(commands), whenReady(subscriber)]);
  }
  return {
    isSharded,
    commands,
    subscriber,
    close,
    ping: async () => {
      await Promise.all([commands.ping(), subscriber.ping()]);
    },
    [Symbol.asyncDispose]: close,
  };
}

function openClient(
  role: RedisRole,
  target: ClientTarget,
  options: RedisOptions & { readonly isSharded: boolean },
  isClosing: () => boolean,
): RedisClient {
  const commandTimeoutMs = options.commandTimeoutMs ?? 2000;
  const client = new Redis({
    ...target,
    lazyConnect: true,
    connectionName: `${options.name ?? 'fanfare'}-${role}`,
    connectTimeout: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    commandTimeout: commandTimeoutMs,
    // Detects a peer that vanished: the next unanswered command fails, instead of TCP noticing after minutes.
    socketTimeout: commandTimeoutMs * 2,
    // Commands are sent once or fail: queued or resent ones could append an event late or twice.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    retryStrategy: (attempt) => Math.min(2000, 25 * 2 ** Math.min(attempt, 7)) * (0.75 + Math.random() / 2),
    // After a failover the old primary is a replica, and slots may move: only a new connection reaches the right server.
    // Without a
    // cluster, reconnecting reaches the same server.
    reconnectOnError: ({ message }) =>
      message.startsWith('READONLY ') || (options.isSharded && message.startsWith('MOVED ')),
  });
  let isUp = false;
  client.on('error', (error: Error) => options.onError?.(role, error));
  client.on('ready', () => {
    isUp = true;
    options.onReady?.(role);
  });
  client.on('close', () => {
    if (isUp && !isClosing()) options.onLost?.(role);
    isUp = false;
  });
  return client;
}

const CLOSED = 'Connection is closed.';

/**
 * A client of one server rejects with "Connection is closed", whatever happened: the reason was an event before. Only its
 * message is kept, since the event of a refused password contains the password. A cluster rejects with the reason.
 */
async function connectFirst(client: RedisClient): Promise<void> {
  const reasons: string[] = [];
  const keep = ({ message }: Error): void => {
    reasons.push(message);
  };
  client.on('error', keep);
  try {
    await client.connect();
  } catch (error) {
    const isVague = error instanceof Error && error.message === CLOSED;
    throw isVague && reasons[0] !== undefined ? new Error(reasons[0]) : error;
  } finally {
    client.off('error', keep);
  }
}

async function whenReady(client: RedisClient): Promise<void> {
  if (client.status !== 'ready') await new Promise<void>((resolve) => client.once('ready', resolve));
}

async function closeClient(client: RedisClient): Promise<void> {
  if (client.status === 'end') return;
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  // QUIT waits for pending replies; if it cannot be sent, there are none.
  await client.quit().catch(() => undefined);
  client.disconnect();
  // Between two attempts there is no socket and no further event.
  if (client.status !== 'reconnecting') await ended;
}

/**
 * Has a local Redis, which is at a socket, begin a new file of what it keeps, without what was deleted. Does nothing on any other
 * server, and where no file is kept.
 * @throws when it writes such a file already, which may have begun too early.
 */
export async function forgetDeletedKeys(commands: RedisClient): Promise<void> {
  if (commands.options.path === undefined) return;
  if (/^aof_enabled:1/m.test(await commands.info('persistence'))) await commands.bgrewriteaof();
}
