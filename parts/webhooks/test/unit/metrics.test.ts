import { expect, test } from 'vitest';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { webhookMetrics } from '../../src/metrics.ts';

async function lines(metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> {
  const page = await metrics.metrics();
  return page.split('\n').filter((line) => line.startsWith(name));
}

test('reports what a webhook receiver accepts, and how far behind it is if this process knows', async () => {
  const metrics = createMetrics({ withProcess: false });
  const { webhookAttempted, webhookGivenUp, webhookBehind } = metrics.of(webhookMetrics);
  const receiver = 'app.example';
  webhookAttempted({ receiver, isTaken: true, seconds: 0.1 });
  webhookAttempted({ receiver, isTaken: false, seconds: 10 });
  webhookGivenUp(receiver);
  webhookBehind(receiver, 3);
  expect(await lines(metrics, 'fanfare_webhook_seconds_count')).toEqual([
    'fanfare_webhook_seconds_count{receiver="app.example",outcome="taken"} 1',
    'fanfare_webhook_seconds_count{receiver="app.example",outcome="failed"} 1',
  ]);
  expect(await lines(metrics, 'fanfare_webhook_given_up_total{')).toHaveLength(1);
  expect(await lines(metrics, 'fanfare_webhook_behind{')).toEqual([
    'fanfare_webhook_behind{receiver="app.example"} 3',
  ]);
  webhookBehind(receiver, null);
  expect(await lines(metrics, 'fanfare_webhook_behind{')).toEqual([]);
});
