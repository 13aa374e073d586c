import { allEnded } from '../lib/closer.ts';
import {
  describeAddress,
  readRedisUrl,
  type RedisAddress,
  type RedisHost,
  connectRedis,
  DEFAULT_CONNECT_TIMEOUT_MS,
  openConnections,
  type RedisConnections,
  type RedisOptions,
} from './redis.ts';
import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Redis } from 'ioredis';

interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly owner: RedisHost;
}

interface TopologyOptions {
  /** Any known nodes of the cluster. */
  readonly address: RedisAddress;
  readonly connectTimeoutMs: number;
}

/** Which node owns which slots of a cluster; queried whenever a connection is opened. */
class ClusterTopology {
  readonly #options: TopologyOptions;
  #known: readonly RedisHost[];
  #asking: Promise<readonly SlotRange[]> | null = null;

  constructor(options: TopologyOptions) {
    this.#options = options;
    this.#known = options.address.hosts;
  }

  /** @throws when no node answers, or none owns the slot. */
  async ownerOf(slot: number): Promise<RedisHost> {
    // Connections are often lost together: concurrent calls share one query.
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    const range = (await this.#asking).find(({ from, to }) => slot >= from && slot <= to);
    if (range === undefined) throw new Error(`No node of the Redis cluster has slot ${String(slot)}`);
    return range.owner;
  }

  async #ask(): Promise<readonly SlotRange[]> {
    let reason: unknown;
    for (const node of this.#known) {
      try {
        const { ranges, nodes } = await this.#askNode(node);
        // Ask the node that answered first next time. Keep the configured nodes, which may come back.
        this.#known = distinct([node, ...nodes, ...this.#options.address.hosts]);
        return ranges;
      } catch (error) {
        reason = error;
      }
    }
    throw new Error('No node of the Redis cluster answers', { cause: reason });
  }

  async #askNode(
    node: RedisHost,
  ): Promise<{ readonly ranges: readonly SlotRange[]; readonly nodes: readonly RedisHost[] }> {
    const { address, connectTimeoutMs } = this.#options;
    const client = new Redis({
      ...node,
      ...credentialsOf(address),
      ...(address.isTls ? { tls: { servername: node.host } } : {}),
      ...{ lazyConnect: true, connectTimeout: connectTimeoutMs, commandTimeout: connectTimeoutMs },
      ...{ retryStrategy: () => null, maxRetriesPerRequest: 0 },
    });
    // The client emits the cause before the pending call fails.
    let fault: unknown = null;
    client.on('error', (error) => {
      fault ??= error;
    });
    try {
      await client.connect();
      return readSlots(await client.cluster('SLOTS'), node);
    } catch (error) {
      throw fault ?? error;
    } finally {
      client.disconnect();
    }
  }
}

function credentialsOf({ username, password }: RedisAddress): {
  username?: string | undefined;
  password?: string | undefined;
} {
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
}

/** Connects a client to the node that owns the slot, looked up again for each new connection. */
function connectorTo(
  slot: number,
  topology: ClusterTopology,
  { isTls }: RedisAddress,
): new (options: unknown) => AbstractConnector {
  return class SlotConnector extends AbstractConnector {
    /** @param options passed in by the client. */
    constructor(options: unknown) {
      super((options as { readonly disconnectTimeout: number }).disconnectTimeout);
    }

    override async connect() {
      this.connecting = true;
      const { host, port } = await topology.ownerOf(slot);
      if (!this.#isWanted()) throw new Error('Connection is closed.');
      this.stream = isTls ? connectTls({ host, port, servername: host }) : connectPlain({ host, port });
      this.stream.once('error', (error: Error) => {
        this.firstError = error;
      });
      return this.stream;
    }

    /** Checked after every await. */
    #isWanted(): boolean {
      return this.connecting;
    }
  };
}

/** Reply of CLUSTER SLOTS: first slot, last slot, then the nodes, primary first. An empty host means the node asked. */
function readSlots(
  reply: unknown,
  asked: RedisHost,
): { readonly ranges: readonly SlotRange[]; readonly nodes: readonly RedisHost[] } {
  const nodes: RedisHost[] = [];
  const ranges = (reply as readonly (readonly unknown[])[]).flatMap(([from, to, ...listed]) => {
    const hosts = (listed as readonly (readonly unknown[])[]).map(([host, port]) => ({
      host: typeof host === 'string' && host !== '' && host !== '?' ? host : asked.host,
      port: Number(port),
    }));
    nodes.push(...hosts);
    const [owner] = hosts;
    return owner === undefined ? [] : [{ from: Number(from), to: Number(to), owner }];
  });
  return { ranges, nodes };
}

function distinct(hosts: readonly RedisHost[]): RedisHost[] {
  return [...new Map(hosts.map((host) => [`${host.host} ${String(host.port)}`, host])).values()];
}

const SLOTS = 16_384;

/** Redis Cluster slot of keys with this hash tag: CRC16 (XMODEM) of its bytes. */
export function hashSlot(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff;
  }
  return crc % SLOTS;
}

/** Hash tags with the given prefix whose slots are spread evenly; deterministic, so all processes get the same tags. */
export function spreadTags(prefix: string, count: number): string[] {
  const tags: string[] = [];
  for (let part = 0; part < count; part += 1) {
    let n = 0;
    while (Math.floor((hashSlot(`${prefix}${String(n)}`) * count) / SLOTS) !== part) n += 1;
    tags.push(`${prefix}${String(n)}`);
  }
  return tags;
}

/** A single Redis, or one of the partitions of a cluster: all keys of a partition share one slot. */
export interface RedisPart extends RedisConnections {
  /** Prefix of all keys and channels; in a cluster it contains a hash tag. */
  readonly prefix: string;
}

export interface RedisParts extends AsyncDisposable {
  /** At least one part. The first one also has the keys that belong to no reader. */
  readonly parts: readonly [RedisPart, ...RedisPart[]];
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
  const [first, ...others] = parts;
  if (failed !== undefined || first === undefined) {
    await close();
    throw failed?.reason;
  }
  return {
    parts: [first, ...others],
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
