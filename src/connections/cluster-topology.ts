import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Redis } from 'ioredis';
import type { RedisAddress, RedisHost } from './redis-address.ts';

interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly owner: RedisHost;
}

export interface TopologyOptions {
  /** Any known nodes of the cluster. */
  readonly address: RedisAddress;
  readonly connectTimeoutMs: number;
}

/** Which node owns which slots of a cluster; queried whenever a connection is opened. */
export class ClusterTopology {
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

export function credentialsOf({ username, password }: RedisAddress): {
  username?: string | undefined;
  password?: string | undefined;
} {
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
}

/** Connects a client to the node that owns the slot, looked up again for each new connection. */
export function connectorTo(
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
