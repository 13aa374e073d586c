import { Redis, type RedisOptions as AllClientOptions } from 'ioredis';
import { allEnded } from '../lib/all-ended.ts';
import { describeAddress, readRedisUrl, type RedisAddress } from './redis-address.ts';

/** A connection of ioredis. Commands fail at once while it is down; it reconnects on its own until closed. */
export type RedisClient = Redis;
/** What the client connects to, and as whom. */
export type ClientTarget = Omit<AllClientOptions, 'replyMapping'>;

export const DEFAULT_CONNECT_TIMEOUT_MS = 5000;

type RedisRole = 'commands' | 'subscriber';

export interface RedisOptions {
  /** `redis://` or `rediss://`, with user, password and database number as usual. */
  readonly url: string;
  /** The name under which sentinels know the primary: the hosts of the URL are theirs. */
  readonly sentinel?: string | undefined;
  /** Shown by CLIENT LIST. Default `fanfare`. */
  readonly name?: string;
  /** Milliseconds until an unanswered command fails. Default 2000. */
  readonly commandTimeoutMs?: number;
  /** Milliseconds until an attempt to connect fails. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** The first attempt failed, and it goes on trying. Absent: it gives up. */
  readonly onWaiting?: (error: unknown) => void;
  /** Faults of a connection; each is followed by further attempts. The same fault may come many times. */
  readonly onError?: (role: string, error: Error) => void;
  /** An established connection is gone; it is being opened again. */
  readonly onLost?: (role: string) => void;
  /** A connection is usable: the first time and again after each loss. */
  readonly onReady?: (role: string) => void;
}

/** What a process needs of one Redis: a connection for commands and one for SUBSCRIBE. */
export interface RedisConnections extends AsyncDisposable {
  /** Channels are those of a slot: `pubSubOf`. */
  readonly isSharded: boolean;
  readonly commands: RedisClient;
  /** It does not resubscribe after a loss: its users do, because they need the acknowledgement. */
  readonly subscriber: RedisClient;
  /** Rejects when either connection is down or does not answer in time. */
  ping(): Promise<void>;
  /** Idempotent; resolves when both sockets are closed. */
  close(): Promise<void>;
}

/**
 * Opens both connections and waits until they are usable.
 * @throws Error, naming the server without its password, when the URL is wrong, or the first attempt fails and
 *   `onWaiting` is not given.
 */
export async function connectRedis(options: RedisOptions): Promise<RedisConnections> {
  const address = readRedisUrl(options.url);
  const described = describeAddress(address);
  const [first] = address.hosts;
  if (options.sentinel === undefined && (first === undefined || address.hosts.length > 1))
    throw new Error(`Several hosts are a cluster, or sentinels with REDIS_SENTINEL: ${described}`);
  const { username, password, db, isTls } = address;
  const target = options.sentinel === undefined ? (first ?? {}) : sentinelsOf(address, options.sentinel);
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

/** As `connectRedis`, to the given target. */
export async function openConnections(
  target: ClientTarget,
  options: RedisOptions & { readonly isSharded: boolean; readonly described: string },
): Promise<RedisConnections> {
  const { isSharded, described: address } = options;
  let closing: Promise<void> | null = null;
  const isClosing = (): boolean => closing !== null;
  const commands = openClient('commands', target, options, isClosing);
  const subscriber = openClient('subscriber', target, options, isClosing);
  // Its slot is elsewhere now: the node has ended the subscriptions, and a new connection finds the other one.
  subscriber.on('moved', () => {
    subscriber.disconnect(true);
  });
  const close = (): Promise<void> =>
    (closing ??= allEnded(
      [closeClient(commands), closeClient(subscriber)],
      `Cannot disconnect from Redis at ${address}`,
    ));
  try {
    await Promise.all([commands.connect(), subscriber.connect()]);
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
  options: RedisOptions & Pick<RedisConnections, 'isSharded'>,
  isClosing: () => boolean,
): RedisClient {
  const commandTimeoutMs = options.commandTimeoutMs ?? 2000;
  const client = new Redis({
    ...target,
    lazyConnect: true,
    connectionName: `${options.name ?? 'fanfare'}-${role}`,
    connectTimeout: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    commandTimeout: commandTimeoutMs,
    // A peer that vanished without a word is noticed by the next unanswered command, not by TCP after minutes.
    socketTimeout: commandTimeoutMs * 2,
    // A command is sent once or fails: queued or sent again, an append could happen late or twice.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    retryStrategy: (attempt) => Math.min(2000, 25 * 2 ** Math.min(attempt, 7)) * (0.75 + Math.random() / 2),
    // After a failover the old primary is a replica, and a slot may move: only a new connection finds the right server. Outside of
    // a cluster it would be the same one again.
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

async function whenReady(client: RedisClient): Promise<void> {
  if (client.status !== 'ready') await new Promise<void>((resolve) => client.once('ready', resolve));
}

async function closeClient(client: RedisClient): Promise<void> {
  if (client.status === 'end') return;
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  // QUIT lets pending replies arrive; where it cannot be sent there are none.
  await client.quit().catch(() => undefined);
  client.disconnect();
  // Between two attempts there is no socket, and no event will come.
  if (client.status !== 'reconnecting') await ended;
}
