import { refusalOf, type WebhookDelivery, type WebhookReceiver } from '../../domain/webhook.ts';
import type { Turns } from './in-turns.ts';
import type { SendResult, WebhookSender } from './webhook-sender.ts';
import type { Context } from '../../feeds/context.ts';

export interface RetryObserver {
  givenUp(given: { readonly eventId: string; readonly attempts: number; readonly error: string }): void;
}

export interface RetryTo {
  readonly receiver: WebhookReceiver;
  readonly sender: WebhookSender;
  readonly retryForMs: number;
  readonly now: () => Date;
  readonly observer: RetryObserver;
}

/**
 * Retries due deliveries up to a limit; those of one action in order, until one fails. What the receiver is not configured for
 * any more is not sent but given up. Returns false when none was due.
 */
export async function retryDue(
  context: Context,
  to: RetryTo & { readonly turns: Turns },
  limit: number,
): Promise<boolean> {
  const { hostEvents, webhookDeliveries } = context;
  const { receiver, sender, turns, now, observer } = to;
  const { url } = receiver;
  const due = await webhookDeliveries.due(url, now(), limit);
  const events = await hostEvents.byIds(due.map(({ eventId }) => eventId));

  await turns.run(due, {
    placeOf: (delivery) => delivery,
    async work(turn) {
      const deliveries = turn.left;
      for (const [index, delivery] of deliveries.entries()) {
        turn.left = deliveries.slice(index);
        const { id, eventId, attempts } = delivery;
        const event = events.get(eventId);
        const refusal = event === undefined ? null : refusalOf(receiver, event);
        if (refusal !== null) {
          await webhookDeliveries.giveUp(id, refusal, attempts);
          observer.givenUp({ eventId, attempts, error: refusal });
          continue;
        }
        const result = event === undefined ? 'taken' : await sender.send(event, attempts);
        const isLate = turn.late !== null;
        await turn.late;
        if (!(await concludeDelivery(context, to, delivery, { result, isLate })) || isLate) return;
      }
    },
    putOff: (some) => webhookDeliveries.putOff(some, sender.answeredBy()),
  });
  return due.length > 0;
}

/**
 * Records how an attempt ended. Returns whether later deliveries of the same action may follow.
 * @param ended.isLate these have been put off because the attempt took long.
 */
export async function concludeDelivery(
  { webhookDeliveries }: Context,
  { retryForMs, now, observer }: RetryTo,
  delivery: WebhookDelivery,
  { result, isLate }: { readonly result: SendResult; readonly isLate: boolean },
): Promise<boolean> {
  const { id, eventId, attempts, triedSince } = delivery;
  if (result === 'unsent') {
    if (isLate) await webhookDeliveries.putOff([delivery], now());
    return false;
  }
  if (result === 'taken') {
    await webhookDeliveries.drop(id);
    if (isLate) await webhookDeliveries.putOff([delivery], now());
    return true;
  }
  const { error, nextAttemptAt } = result;
  if (now().getTime() - triedSince.getTime() < retryForMs) {
    await webhookDeliveries.postpone(delivery, error, nextAttemptAt);
    return false;
  }
  await webhookDeliveries.giveUp(id, error, attempts + 1);
  if (isLate) await webhookDeliveries.putOff([delivery], now());
  observer.givenUp({ eventId, attempts: attempts + 1, error });
  return true;
}
