import { expect, test } from 'vitest';
import type { Environment } from '../../../../src/config/env.ts';
import { configOf, faultsOf } from '../../../../test/support/config.ts';
import { WEBHOOKS } from '../../src/settings.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const receiver = { url: 'https://app.example/events?x=1', secrets: [secret] };
const webhooks = (...list: readonly object[]): Environment => ({ WEBHOOKS: JSON.stringify(list) });

test('reads webhook receivers', () => {
  const own = { ...receiver, url: 'http://app:80', allowPrivateAddress: true, tenant: 'acme' };
  const config = configOf({ ...webhooks(receiver, own), TENANT_CLAIM: 'tenant' });
  expect(config.of(WEBHOOKS)).toEqual({
    receivers: [
      {
        url: receiver.url,
        stream: null,
        keys: [Buffer.alloc(32, 7)],
        types: null,
        tenant: null,
        allowPrivateAddress: false,
      },
      {
        url: 'http://app/',
        stream: null,
        keys: [Buffer.alloc(32, 7)],
        types: null,
        tenant: 'acme',
        allowPrivateAddress: true,
      },
    ],
    timeoutMs: 10_000,
    retryForMs: 3 * 24 * 3_600_000,
  });
});

test('reads streams as receivers, which are shown without their passwords', () => {
  const types = ['action.published'];
  const [redis, nats] = configOf(
    webhooks({ url: 'redis://u:p%40@h:6379/2/events' }, { url: 'nats://token@h:4222/host.events', types }),
  ).of(WEBHOOKS).receivers;
  expect(redis).toEqual({
    url: 'redis://h:6379/2/events',
    stream: {
      ...{ kind: 'redis', server: 'redis://u:p%40@h:6379/2', stream: 'events' },
      shown: 'redis://h:6379/2/events',
    },
    ...{ keys: [], types: null, tenant: null, allowPrivateAddress: true },
  });
  expect(nats).toMatchObject({
    url: 'nats://h:4222/host.events',
    stream: { kind: 'nats', server: 'nats://token@h:4222', stream: 'host.events' },
    types: ['action.published', 'webhook.test'],
  });
});

test.each([
  [[{ url: 'redis://h:6379' }], 'at 0.url: a stream, such as redis://'],
  [[{ url: 'nats://h:4222/a.>' }], 'at 0.url: a stream, such as redis://'],
  [[{ url: 'nats://h:4222/a', secrets: receiver.secrets }], 'at 0: '],
  [[{ url: 'redis://u:whsec_B@h/a' }, { url: 'redis://h/a' }], 'with different URLs'],
  [[{ ...receiver, url: 'http://app.example' }], 'at 0.url: https://, or "allowPrivateAddress": true'],
  [[receiver, { ...receiver, url: 'https://u:p@app.example' }], 'at 1.url: a URL'],
  [[{ ...receiver, url: 'ftp://app.example' }], 'at 0.url: a URL'],
  [[{ ...receiver, secrets: ['whsec_c2hvcnQ='] }], 'at 0.secrets.0: whsec_ and 24 to 64 bytes'],
  [[{ ...receiver, secrets: [] }], 'at 0.secrets: '],
  [[{ ...receiver, tenant: 'Acme' }], 'at 0.tenant: 1 to 63 characters of a-z'],
  [[{ ...receiver, types: ['action.published', 'nothing'] }], 'at 0.types.1: '],
  [[{ ...receiver, allowPrivate: true }], 'at 0: '],
  [[receiver, receiver], 'with different URLs'],
  [
    Array.from({ length: 21 }, (_, n) => ({ ...receiver, url: `https://h${String(n)}.example` })),
    'at most 20',
  ],
])('reports faults of a webhook receiver without its secrets: %#', (list, fault) => {
  const { WEBHOOKS: message = '' } = faultsOf(webhooks(...list));
  expect(message).toContain(fault);
  expect(message).not.toContain('whsec_B');
});

test('reports a malformed list of receivers, and receivers without event retention', () => {
  expect(faultsOf({ WEBHOOKS: `{"secrets": ["${secret}"` })['WEBHOOKS']).toMatch(
    /bytes \(not shown\), expected a JSON/,
  );
  expect(faultsOf({ ...webhooks(receiver), EVENT_RETENTION: 'off' })).toHaveProperty('WEBHOOKS');
  expect(faultsOf({ ...webhooks(receiver), EVENT_RETENTION: '2d' })).toHaveProperty('WEBHOOK_RETRY_FOR');
  expect(faultsOf({ EVENT_RETENTION: '2d' })).toEqual({});
  expect(faultsOf(webhooks({ ...receiver, tenant: 'acme' }))['WEBHOOKS']).toContain(
    'TENANT_CLAIM is not set',
  );
});
