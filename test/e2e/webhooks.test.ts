import { expect, test } from 'vitest';
import { startTestApp } from '../support/app.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { startWebhookTarget } from '../support/webhook-receiver.ts';

const ADMIN = { sub: 'admin', roles: ['admin'] } as const;

interface Deliveries {
  readonly webhookDeliveries: {
    readonly edges: readonly {
      readonly node: { readonly id: string; readonly payload: { readonly id: string } };
    }[];
  };
}

test('a server sends events, reports rejected ones, and sends them again for an admin', async () => {
  await using target = await startWebhookTarget();
  const receivers = [{ url: target.url, secrets: [target.secret], allowPrivateAddress: true }];
  await using app = await startTestApp({
    env: {
      WEBHOOKS: JSON.stringify(receivers),
      ...{ DIGEST_AFTER: '1s', NOTIFY_AFTER: '0s', POLL_INTERVAL: '100ms' },
    },
  });
  const { webhookReceivers, webhookDeliveries } = app.app.database.collections;
  await expect.poll(() => webhookReceivers.countDocuments(), { timeout: PATIENCE_MS }).toBe(1);
  target.answer = ({ payload }, response) => {
    const isRefused = payload.type === 'action.published';
    if (!isRefused) target.take(payload);
    response.writeHead(isRefused ? 500 : 200).end();
  };
  const published = await app.query(
    'mutation { publishAction(input: { actorId: "actor", mentions: ["ann"], descriptor: { posted: { postId: "p" } } }) { isReplay } }',
    {},
    { sub: 'service', roles: ['service'] },
  );
  expect(published.errors).toEqual([]);
  const list =
    '{ webhookDeliveries(state: RETRYING) { edges { node { id url type payload event { id } attempts state error nextAttemptAt } } } }';
  const deliveries = async () =>
    (await app.query<Deliveries>(list, {}, ADMIN)).data?.webhookDeliveries.edges.map(({ node }) => node) ??
    [];
  // Ann has never looked, and is reminded; what is about the action waits for its publication.
  const digest = { type: 'digest.due', data: { memberId: 'ann', unread: { count: 1, isExact: true } } };
  const ofAnn = () => [...target.taken.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
  await expect.poll(ofAnn, { timeout: PATIENCE_MS }).toMatchObject([
    digest,
    {
      type: 'notification.due',
      data: { memberId: 'ann', notifications: [{ kind: 'MENTION', channels: ['PUSH'] }] },
    },
  ]);
  const failed = await deliveries();
  expect(failed).toMatchObject([
    { type: 'item.delivered', attempts: 0, error: null, state: 'RETRYING' },
    { type: 'action.published', error: 'Answered 500', url: target.url },
  ]);
  const id = failed[1]?.id ?? '';
  target.answer = 200;
  const retried = await app.query('mutation ($id: ID!) { retryWebhook(id: $id) { id } }', { id }, ADMIN);
  expect(retried.data).toEqual({ retryWebhook: { id } });
  await expect.poll(() => webhookDeliveries.countDocuments(), { timeout: PATIENCE_MS }).toBe(0);
  expect([...target.taken.values()].map(({ type }) => type).slice(2)).toEqual([
    'action.published',
    'item.delivered',
  ]);
  const page = await fetch(`${app.url}/metrics`);
  expect(await page.text()).toMatch(
    /fanfare_webhook_seconds_count\{receiver="127\.0\.0\.1:\d+",outcome="failed"\} \d/,
  );
  expect(app.log.join('\n')).not.toContain(target.secret);
});
