import { expect, inject, it } from 'vitest';
import { openRedisParts } from '../../src/connections/redis-parts.ts';
import { RedisLiveLog } from '../../src/live/redis-live-log.ts';
import { makeCertificate } from '../support/certificate.ts';
import { withSentinel } from '../support/sentinel.ts';
import { until } from '../support/valkey.ts';
import { startValkeyCluster } from '../support/valkey-cluster.ts';
import { runCli } from '../support/run-cli.ts';
import { uniqueName } from '../support/unique-name.ts';

const event = {
  kind: 'added',
  actionId: 'a'.repeat(24),
  relevancy: new Date(1),
  reasons: ['FOLLOW'],
} as const;

it('continues with the primary that sentinels name after a failover, and watchers query again', async () => {
  await using redundant = await withSentinel('fanfare-primary');
  await using redis = await openRedisParts({
    ...{ url: redundant.url, sentinel: 'fanfare-primary', prefix: `${uniqueName('test')}:` },
  });
  const [part] = redis.parts;
  expect(part.commands.stream.remotePort).toBe(redundant.primary.port);
  await using log = new RedisLiveLog({ redis: part, prefix: part.prefix, windowMs: 10_000 });
  const leaving = new AbortController();
  const messages = await log.watch({ userId: 'ann', signal: leaving.signal });
  expect((await messages.next()).value).toMatchObject({ kind: 'ready' });
  await log.append([{ userId: 'ann', event }]);
  expect((await messages.next()).value).toMatchObject({ kind: 'event', event });
  await redundant.primary.kill();
  await until('the replica has become the primary', async () => {
    await redis.ping().catch(() => undefined);
    return part.commands.status === 'ready' && part.commands.stream.remotePort === redundant.replica.port;
  });
  expect((await messages.next()).value).toMatchObject({ kind: 'resync', reason: 'log-lost' });
  await until('events are taken again', () =>
    log.append([{ userId: 'ann', event }]).then(
      () => true,
      () => false,
    ),
  );
  for (;;) {
    const { value } = await messages.next();
    if (value?.kind === 'event') break;
  }
  leaving.abort();
});

it('uses TLS with the nodes of a cluster, and rejects an unknown certificate', async () => {
  await using certificate = await makeCertificate();
  const { args, client } = certificate;
  await using cluster = await startValkeyCluster({ isTls: true, client, args });
  const env = {
    ...{ MONGODB_URI: inject('mongodbUri'), MONGODB_DB: uniqueName('tls'), REDIS_URL: cluster.url },
    ...{ JWT_SECRET: 'a-secret-that-is-only-for-tests-0123456789' },
  };
  const known = await runCli(['doctor'], { ...env, NODE_EXTRA_CA_CERTS: certificate.path });
  expect(known.stdout).toMatch(/^ok {4}Redis .*answers at rediss:/m);
  const unknown = await runCli(['doctor'], env);
  expect(unknown.stdout).toMatch(/^FAIL {2}Redis [^]*self-signed certificate/m);
});
