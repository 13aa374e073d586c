import { allEnded } from '../lib/all-ended.ts';
import { ClusterTopology, connectorTo, credentialsOf } from './cluster-topology.ts';
import { hashSlot, spreadTags } from './hash-slot.ts';
import { describeAddress, readRedisUrl } from './redis-address.ts';
import {
  connectRedis,
  DEFAULT_CONNECT_TIMEOUT_MS,
  openConnections,
  type RedisConnections,
  type RedisOptions,
} from './redis.ts';

/** One Redis, or one of the parts into which the readers of a cluster are divided: all its keys lie in one slot. */
export interface RedisPart extends Pick<RedisConnections, 'commands' | 'subscriber' | 'isSharded'> {
  /** What all keys and channels begin with. In a cluster it has a hash tag. */
  readonly prefix: string;
}

export interface RedisParts extends AsyncDisposable {
  /** At least one; the first has what belongs to no reader. */
  readonly parts: readonly RedisPart[];
  /** Rejects when any connection is down or does not answer in time. */
  ping(): Promise<void>;
  /** Idempotent; resolves when all sockets are closed. */
  close(): Promise<void>;
}

export interface RedisPartsOptions extends RedisOptions {
  readonly prefix: string;
}

/**
 * Parts of a cluster. Each has two connections of its own in every process, to the node that has its slot, so that what
 * holds for one Redis – order, one script, one run id – holds for each part. More nodes than parts would be of no use. All
 * processes have to agree on it.
 */
const CLUSTER_PARTS = 16;

/**
 * Opens one Redis where the URL has one host or `sentinel` is given, else a cluster, and waits until it is usable.
 * @throws as `connectRedis`, and where the one host is a node of a cluster, which takes commands for its own slots only
 */
export async function openRedisParts(options: RedisPartsOptions): Promise<RedisParts> {
  const address = readRedisUrl(options.url);
  if (address.hosts.length === 1 || options.sentinel !== undefined) {
    const redis = await connectRedis(options);
    if (await isNodeOfCluster(redis)) {
      await redis.close();
      throw new Error(
        `Redis at ${describeAddress(address)} is a node of a cluster: REDIS_URL has to have several of its hosts, separated by commas. Where it has one address only, give that twice`,
      );
    }
    return { ...redis, parts: [{ ...redis, prefix: options.prefix }] };
  }
  const { connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS } = options;
  const topology = new ClusterTopology({ address, connectTimeoutMs });
  const opening = spreadTags(options.prefix, CLUSTER_PARTS).map(async (tag) => {
    const connections = await openConnections(
      {
        ...credentialsOf(address),
        ...(address.isTls ? { tls: {} } : {}),
        Connector: connectorTo(hashSlot(tag), topology, address),
      },
      {
        ...options,
        ...{ isSharded: true, described: `${describeAddress(address)} (cluster)` },
        onLost: (role) => options.onLost?.(`${role} ${tag}`),
        onReady: (role) => options.onReady?.(`${role} ${tag}`),
      },
    );
    return { ...connections, prefix: `{${tag}}:` };
  });
  const opened = await Promise.allSettled(opening);
  const parts = opened.flatMap((part) => (part.status === 'fulfilled' ? [part.value] : []));
  const close = (): Promise<void> =>
    allEnded(
      parts.map((part) => part.close()),
      'Several connections to the cluster could not be closed',
    );
  const failed = opened.find((part) => part.status === 'rejected');
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  return {
    parts,
    close,
    ping: async () => {
      await Promise.all(parts.map((part) => part.ping()));
    },
    [Symbol.asyncDispose]: close,
  };
}

/** One that may not be asked is taken for what it was said to be. */
async function isNodeOfCluster({ commands }: Pick<RedisConnections, 'commands'>): Promise<boolean> {
  const info = await commands.info('cluster').catch(() => '');
  return /^cluster_enabled:1/m.test(info);
}

/** The part that has what belongs to a key, such as the id of a reader. */
export function partIndex(key: string, count: number): number {
  return count <= 1 ? 0 : hashSlot(key) % count;
}

/** The items of each part that has any, by its index. */
export function byPart<T>(items: readonly T[], keyOf: (item: T) => string, count: number): Map<number, T[]> {
  const divided = new Map<number, T[]>();
  for (const item of items) {
    const index = partIndex(keyOf(item), count);
    const part = divided.get(index);
    if (part === undefined) divided.set(index, [item]);
    else part.push(item);
  }
  return divided;
}
