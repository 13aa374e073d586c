import type { WebhookDelivery } from '../../domain/webhook.ts';
import { inTurns } from './in-turns.ts';
import type { WebhookSender } from './webhook-sender.ts';
import type { Repositories } from '../../storage/repositories.ts';

export interface RetryDueDependencies extends Pick<Repositories, 'hostEvents' | 'webhookDeliveries'> {
  readonly now: () => Date;
  readonly observer: {
    givenUp(given: { readonly eventId: string; readonly attempts: number; readonly error: string }): void;
  };
}

/** Retries due deliveries up to a limit; those of one action in order, until one fails. Returns false when none was due. */
export async function retryDue(
  { hostEvents, webhookDeliveries, now, observer }: RetryDueDependencies,
  to: { readonly url: string; readonly sender: WebhookSender; readonly retryForMs: number },
  limit: number,
): Promise<boolean> {
  const { url, sender, retryForMs } = to;
  const due = await webhookDeliveries.due(url, now(), limit);
  const events = await hostEvents.byIds(due.map(({ eventId }) => eventId));

  /** Whether later deliveries of the same action may follow. */
  async function retry(delivery: WebhookDelivery): Promise<boolean> {
    const { id, eventId, attempts, triedSince } = delivery;
    const event = events.get(eventId);
    const result = event === undefined ? 'taken' : await sender.send(event, attempts);
    if (result === 'unsent') return false;
    if (result === 'taken') {
      await webhookDeliveries.drop(id);
      return true;
    }
    const { error, nextAttemptAt } = result;
    if (now().getTime() - triedSince.getTime() < retryForMs) {
      await webhookDeliveries.postpone(delivery, error, nextAttemptAt);
      return false;
    }
    await webhookDeliveries.giveUp(id, error);
    observer.givenUp({ eventId, attempts: attempts + 1, error });
    return true;
  }

  await inTurns(
    due,
    (delivery) => delivery,
    async (turn) => {
      for (const delivery of turn) if (!(await retry(delivery))) return;
    },
  );
  return due.length > 0;
}
