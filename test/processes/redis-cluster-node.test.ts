import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { connectRedis } from '../../src/connections/redis.ts';
import { openRedisParts } from '../../src/connections/redis-parts.ts';
import { runCli } from '../support/run-cli.ts';
import { uniqueName } from '../support/unique-name.ts';
import { startValkeyCluster, type ValkeyCluster } from '../support/valkey-cluster.ts';

let cluster: ValkeyCluster;
beforeAll(async () => {
  cluster = await startValkeyCluster();
});
afterAll(async () => cluster[Symbol.asyncDispose]());

const oneOf = ({ nodes }: ValkeyCluster): string => `redis://127.0.0.1:${String(nodes[0]?.port ?? 0)}`;
const ENOUGH = /is a node of a cluster: REDIS_URL has to have several of its hosts/;

it('rejects a cluster behind one host, which would execute commands for some keys only', async () => {
  await expect(openRedisParts({ url: oneOf(cluster), prefix: '' })).rejects.toThrow(ENOUGH);
});

it('accepts the only address of a cluster, given twice', async () => {
  const { host } = new URL(oneOf(cluster));
  await using redis = await openRedisParts({ url: `redis://${host},${host}`, prefix: uniqueName('test') });
  const ports = redis.parts.map(({ commands }) => commands.stream.remotePort);
  expect(new Set(ports)).toEqual(new Set(cluster.nodes.map(({ port }) => port)));
});

it('does not reconnect if a single Redis reports that a key is elsewhere', async () => {
  let lost = 0;
  await using redis = await connectRedis({
    url: oneOf(cluster),
    onLost: () => {
      lost += 1;
    },
  });
  const keys = Array.from({ length: 32 }, (_, n) => `key-${String(n)}`);
  const answers = await Promise.allSettled(keys.map((key) => redis.commands.get(key)));
  const refused = answers.filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  await redis.ping();
  expect(lost).toBe(0);
});

it('doctor and a server say what to configure instead', async () => {
  const env = {
    ...{ MONGODB_URI: inject('mongodbUri'), MONGODB_DB: uniqueName('node'), REDIS_URL: oneOf(cluster) },
    ...{ JWT_SECRET: 'a-secret-that-is-only-for-tests-0123456789', PORT: '0' },
  };
  const looked = await runCli(['doctor'], env);
  expect(looked.stdout).toMatch(/^FAIL {2}Redis .*is a node of a cluster/m);
  const served = await runCli(['serve'], env);
  expect(served).toMatchObject({ code: 1, stderr: expect.stringMatching(ENOUGH) as unknown });
  const worked = await runCli(['worker'], env);
  expect(worked).toMatchObject({ code: 1, stderr: expect.stringMatching(ENOUGH) as unknown });
});
