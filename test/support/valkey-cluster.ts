import { freePort, startValkey, until, type Valkey, type ValkeyOptions } from './valkey.ts';

/** Three Valkeys that are one cluster, each with a replica of its own where that is asked for. */
export interface ValkeyCluster extends AsyncDisposable {
  /** With all of its primaries, as they were at first. */
  readonly url: string;
  /** The primaries at first. */
  readonly nodes: readonly Valkey[];
  /** Of the primary at the same place; empty where there are none. */
  readonly replicas: readonly Valkey[];
  /** Resolves when all nodes that run take commands for all slots. */
  whole(): Promise<void>;
  /** Moves a slot with its keys to another primary while it is in use. */
  moveSlot(slot: number, from: Valkey, to: Valkey): Promise<void>;
}

export interface ValkeyClusterOptions extends Pick<ValkeyOptions, 'client' | 'isTls'> {
  readonly args?: readonly string[];
  /** Whether each primary has a replica, which takes its place. Default: no. */
  readonly hasReplicas?: boolean;
}

const PRIMARIES = 3;
const SLOTS = 16_384;

interface Member {
  readonly node: Valkey;
  readonly busPort: number;
}

async function startMember(options: ValkeyClusterOptions): Promise<Member> {
  const busPort = await freePort();
  const node = await startValkey({
    ...options,
    args: () => [
      ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
      ...['--cluster-node-timeout', '2000', '--cluster-announce-ip', '127.0.0.1'],
      // What is left goes on while a node is away, as in a cluster that can do without some of its readers.
      ...['--cluster-require-full-coverage', 'no'],
      ...(options.args ?? []),
    ],
  });
  return { node, busPort };
}

const idOf = async (node: Valkey): Promise<string> => String(await node.call('CLUSTER', 'MYID'));

export async function startValkeyCluster(options: ValkeyClusterOptions = {}): Promise<ValkeyCluster> {
  const count = options.hasReplicas === true ? 2 * PRIMARIES : PRIMARIES;
  const members = await Promise.all(Array.from({ length: count }, () => startMember(options)));
  const all = members.map(({ node }) => node);
  const [nodes, replicas] = [all.slice(0, PRIMARIES), all.slice(PRIMARIES)];
  const whole = (): Promise<void> =>
    until('the cluster is whole', async () => {
      const states = await Promise.all(
        all.map((node) => node.call('CLUSTER', 'INFO').then(String, () => null)),
      );
      const running = states.filter((state) => state !== null);
      return (
        running.length >= PRIMARIES &&
        running.every(
          (state) =>
            state.includes('cluster_state:ok') &&
            state.includes(`cluster_slots_ok:${String(SLOTS)}`) &&
            state.includes(`cluster_known_nodes:${String(count)}`),
        )
      );
    });
  await join(members, nodes);
  await whole();
  for (const [index, replica] of replicas.entries()) {
    const primary = nodes[index];
    if (primary !== undefined) await replica.call('CLUSTER', 'REPLICATE', await idOf(primary));
  }
  for (const replica of replicas)
    await until('a replica follows', async () =>
      String(await replica.call('INFO', 'replication')).includes('master_link_status:up'),
    );
  const protocol = options.isTls === true ? 'rediss' : 'redis';
  return {
    url: `${protocol}://${nodes.map(({ port }) => `127.0.0.1:${String(port)}`).join(',')}`,
    ...{ nodes, replicas, whole },
    async moveSlot(slot, from, to) {
      const [source, target] = [await idOf(from), await idOf(to)];
      await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source);
      await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target);
      for (;;) {
        const keys = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
        if (keys.length === 0) break;
        await from.call('MIGRATE', '127.0.0.1', to.port, '', 0, 60_000, 'KEYS', ...keys);
      }
      await to.call('CLUSTER', 'SETSLOT', slot, 'NODE', target);
      await from.call('CLUSTER', 'SETSLOT', slot, 'NODE', target);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((node) => node[Symbol.asyncDispose]()));
    },
  };
}

/** The primaries get the slots, and all get to know each other. */
async function join(members: readonly Member[], primaries: readonly Valkey[]): Promise<void> {
  const [first] = members;
  for (const [index, node] of primaries.entries()) {
    const from = Math.floor((index * SLOTS) / PRIMARIES);
    const to = Math.floor(((index + 1) * SLOTS) / PRIMARIES) - 1;
    await node.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
  }
  for (const { node } of members)
    if (first !== undefined && node !== first.node)
      await node.call('CLUSTER', 'MEET', '127.0.0.1', first.node.port, first.busPort);
}
