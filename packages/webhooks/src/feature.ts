import { WEBHOOK_DELIVERIES, WEBHOOK_RECEIVERS } from './store.ts';

/** Its line in the list of features. */
export const webhooks = {
  collections: [WEBHOOK_DELIVERIES, WEBHOOK_RECEIVERS],
  api: () => import('./api.ts'),
} as const;
