import type { Logger } from '../logger.ts';

/** Pending events stay queued and are retried. */
export function logWebhookDown(
  log: Logger,
  fields: { readonly receiver: string; readonly error: string },
): void {
  log.warn(fields, 'Webhook receiver is down, new events wait');
}

export function logWebhookBack(log: Logger, fields: { readonly receiver: string }): void {
  log.info(fields, 'Webhook receiver is up again');
}

export function logWebhookGivenUp(
  log: Logger,
  fields: {
    readonly receiver: string;
    readonly eventId: string;
    readonly attempts: number;
    readonly error: string;
  },
): void {
  log.error(fields, 'Webhook delivery failed for good, an admin can retry it');
}

/** @param fields.events upper bound: includes events the receiver did not subscribe to. */
export function logWebhookSkipped(
  log: Logger,
  fields: { readonly receiver: string; readonly events: number },
): void {
  log.error(fields, 'Webhook receiver was down for longer than events are kept, some were never sent');
}
