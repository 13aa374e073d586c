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

/** A single Redis, or one of the partitions of a cluster: all keys of a partition share one slot. */
export interface RedisPart extends RedisConnections {
  /** Prefix of all keys and channels; in a cluster it contains a hash tag. */
  readonly prefix: string;
}

export interface RedisParts extends AsyncDisposable {
  /** At least one part. The first one also has the keys that belong to no reader. */
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
 * Number of partitions of a cluster. Every process opens two connections per partition, to the node that owns its slot, so
 * that the guarantees of a single Redis (order, one script, one run id) hold within each partition. A cluster cannot use
 * more nodes than there are partitions. All processes must use the same number.
 */
const CLUSTER_PARTS = 16;

/**
 * Connects to a single Redis if the URL has one host or `sentinel` is given, otherwise to a cluster. Waits until it is
 * usable.
 * @throws like `connectRedis`; also when the single host is a cluster node, which accepts commands only for its own slots
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

/** A server that refuses the question is assumed to be what the configuration says. */
async function isNodeOfCluster({ commands }: RedisConnections): Promise<boolean> {
  const info = await commands.info('cluster').catch(() => '');
  return /^cluster_enabled:1/m.test(info);
}

/** Index of the part for a key, such as a reader's id. */
export function partIndex(key: string, count: number): number {
  return count <= 1 ? 0 : hashSlot(key) % count;
}

/** Groups items by part; parts without items are left out. */
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
