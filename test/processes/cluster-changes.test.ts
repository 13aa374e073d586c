import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashSlot, partIndex, type RedisPart } from '../../src/connections/redis-parts.ts';
import { uniqueName } from '../support/unique-name.ts';
import { until } from '../support/valkey.ts';
import { startValkeyCluster, type ValkeyCluster } from '../support/valkey-cluster.ts';
import { hearThrough, startProcess, undisturbed, type Process } from './cluster-tools.ts';

let cluster: ValkeyCluster;
beforeAll(async () => {
  cluster = await startValkeyCluster({ hasReplicas: true });
});
afterAll(async () => cluster[Symbol.asyncDispose]());

const portOf = ({ commands }: RedisPart): number | undefined => commands.stream.remotePort;

/** Resolves when the connections of these parts, of both processes, are to the node with the port. */
async function areAt(
  processes: readonly Process[],
  isMeant: (part: RedisPart, index: number) => boolean,
  port: number,
): Promise<void> {
  await until('the parts are at another node', async () => {
    // A connection hears of a change by an answer.
    await Promise.all(processes.map(({ redis }) => redis.ping().catch(() => undefined)));
    const meant = processes.flatMap(({ redis }) => redis.parts.filter(isMeant));
    return meant.every((part) => part.commands.status === 'ready' && portOf(part) === port);
  });
}

it('continues at another node when a slot moves there with its keys, without effect on readers of the others', async () => {
  const prefix = `${uniqueName('test')}:`;
  await using near = await startProcess(cluster.url, prefix, 60_000);
  await using far = await startProcess(cluster.url, prefix, 60_000);
  const [moved] = far.redis.parts;
  const from = cluster.nodes.find(({ port }) => port === portOf(moved));
  const to = cluster.nodes.find((node) => node !== from);
  if (from === undefined || to === undefined) throw new Error('There is nothing to move');
  const slot = hashSlot(moved.prefix.slice(1, moved.prefix.indexOf('}')));
  const heard = await hearThrough({ near, far }, async (write) => {
    await cluster.moveSlot(slot, from, to);
    await write();
  });
  await areAt([near, far], (part) => part.prefix === moved.prefix, to.port);
  const others = heard.filter(({ userId }) => partIndex(userId, far.redis.parts.length) > 0);
  expect(undisturbed(heard)).toEqual(expect.arrayContaining(others.map(({ userId }) => userId)));
  expect(others.length).toBeLessThan(heard.length);
});

it('continues at the replica of a node that dies, and its watchers query again', async () => {
  const prefix = `${uniqueName('test')}:`;
  await using near = await startProcess(cluster.url, prefix, 10_000);
  await using far = await startProcess(cluster.url, prefix, 10_000);
  const [killed] = cluster.nodes;
  const [replica] = cluster.replicas;
  if (killed === undefined || replica === undefined) throw new Error('The cluster has no replicas');
  const orphaned = new Set(
    far.redis.parts.flatMap((part, index) => (portOf(part) === killed.port ? [index] : [])),
  );
  expect(orphaned.size).toBeGreaterThan(0);
  const heard = await hearThrough({ near, far }, async (write) => {
    await killed.kill();
    await write();
    await areAt([near, far], (_part, index) => orphaned.has(index), replica.port);
  });
  // The one that died has not come back.
  const others = heard.filter(({ userId }) => !orphaned.has(partIndex(userId, far.redis.parts.length)));
  expect(undisturbed(heard)).toEqual(expect.arrayContaining(others.map(({ userId }) => userId)));
  expect(others.length).toBeGreaterThan(0);
  expect(undisturbed(heard).length).toBeLessThan(heard.length);
});
