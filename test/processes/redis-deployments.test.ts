import { afterAll, beforeAll, expect, test } from 'vitest';
import { TEST_SECRET } from '../support/app.ts';
import { makeCertificate, type Certificate } from '../support/certificate.ts';
import { testDatabase, type TestDatabase } from '../support/engine.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { watchFeed, type FeedWatcher } from '../support/live-clients.ts';
import { startCli, type RunningCli } from '../support/run-cli.ts';
import { withSentinel } from '../support/sentinel.ts';
import { clientOf } from '../support/serving.ts';
import { startValkey, until } from '../support/valkey.ts';
import { startValkeyCluster } from '../support/valkey-cluster.ts';

let certificate: Certificate;
let database: TestDatabase;
beforeAll(async () => {
  certificate = await makeCertificate();
  database = await testDatabase();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await certificate[Symbol.asyncDispose]();
});

const READY = /GraphQL {4}(http:\S+)\/graphql/;

/** An API and a worker, each a process of its own: what they trust is said when a process starts. */
async function startProcesses(redis: Readonly<Record<string, string>>) {
  const env = {
    ...{ MONGODB_URI: database.uri, MONGODB_DB: database.name, JWT_SECRET: TEST_SECRET, PORT: '0' },
    ...{ NODE_EXTRA_CA_CERTS: certificate.path, ...redis },
  };
  const processes: RunningCli[] = [startCli(['serve', '--no-worker'], env), startCli(['worker'], env)];
  const close = async (): Promise<void> => {
    await Promise.all(processes.map((one) => one[Symbol.asyncDispose]()));
  };
  try {
    const [[, url = ''] = []] = await Promise.all([
      processes[0]?.stdoutHas(READY),
      processes[1]?.stderrHas(/worker started/),
    ]);
    return { client: clientOf(url), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function isDelivered(redis: Readonly<Record<string, string>>): Promise<void> {
  await using processes = await startProcesses(redis);
  const { client } = processes;
  await upsert(client, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
  await using watcher = await watchFeed('WebSocket', client, 'ann');
  expect(await watcher.addedUntil(await publish(client))).toEqual([]);
}

test('a publication reaches a socket through one Redis with TLS', async () => {
  const { args, client } = certificate;
  await using redis = await startValkey({ isTls: true, client, args: () => args });
  await isDelivered({ REDIS_URL: `rediss://127.0.0.1:${String(redis.port)}` });
});

test('a publication reaches a socket through a Redis Cluster with TLS', async () => {
  const { args, client } = certificate;
  await using cluster = await startValkeyCluster({ isTls: true, client, args });
  await isDelivered({ REDIS_URL: cluster.url });
});

/** Publishes until one of the actions comes to the watcher, who was told to query again before. */
async function comesAgain(client: ReturnType<typeof clientOf>, watcher: FeedWatcher): Promise<void> {
  const notified: string[] = [];
  let hasCome = false;
  const hearing = (async () => {
    while (!hasCome) {
      const event = await watcher.next();
      notified.push(event.__typename);
      hasCome = event.__typename === 'FeedItemAdded' && notified.includes('FeedResync');
    }
  })();
  await until('actions come to the watcher again', async () => {
    await publish(client);
    return hasCome;
  });
  await hearing;
}

test.each(['redis', 'rediss'] as const)(
  'publications reach a socket again after a failover by sentinels (%s), after FeedResync',
  async (protocol) => {
    await using redundant = await withSentinel(
      'fanfare-primary',
      protocol === 'rediss' ? certificate : undefined,
    );
    await using processes = await startProcesses({
      REDIS_URL: redundant.url,
      REDIS_SENTINEL: 'fanfare-primary',
    });
    const { client } = processes;
    await upsert(client, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
    await using watcher = await watchFeed('WebSocket', client, 'ann');
    expect(await watcher.addedUntil(await publish(client))).toEqual([]);
    await redundant.primary.kill();
    await comesAgain(client, watcher);
    expect(String(await redundant.replica.call('INFO', 'replication'))).toContain('role:master');
    expect((await fetch(`${client.url}/ready`)).status).toBe(200);
  },
);
