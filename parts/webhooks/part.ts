import type { Part } from '../../src/app/part.ts';
import { webhooks as deliveries } from './src/deliveries.ts';
import { examineWebhooks } from './src/examine.ts';
import { WEBHOOKS } from './src/settings.ts';
import { WEBHOOK_DELIVERIES, WEBHOOK_RECEIVERS } from './src/store.ts';
import { webhookMetrics } from './src/metrics.ts';

export const webhooks = {
  collections: [WEBHOOK_DELIVERIES, WEBHOOK_RECEIVERS],
  settings: WEBHOOKS,
  metrics: webhookMetrics,
  jobs: [deliveries],
  api: () => import('./src/api.ts'),
  examination: examineWebhooks,
} satisfies Part;
