import { event } from '../../../src/telemetry/events.ts';

/** Pending events stay queued and are retried. */
export const logWebhookDown = event<{ receiver: string; error: string }>(
  'warn',
  'Webhook receiver is down, new events wait',
);
export const logWebhookBack = event<{ receiver: string }>('info', 'Webhook receiver is up again');
export const logWebhookGivenUp = event<{
  receiver: string;
  eventId: string;
  attempts: number;
  error: string;
}>('error', 'Webhook delivery failed for good, an admin can retry it');
/** @param fields.events upper bound: includes events the receiver did not subscribe to. */
export const logWebhookSkipped = event<{ receiver: string; events: number }>(
  'error',
  'Webhook receiver was down for longer than events are kept, some were never sent',
);
