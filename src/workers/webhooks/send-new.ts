import type { NumberedHostEvent } from '../../domain/host-event.ts';
import type { ParkedEvent } from '../../storage/events/webhook-deliveries.ts';
import { inTurns } from './in-turns.ts';
import type { ReceiverHealth } from './receiver-health.ts';
import type { WebhookSender } from './webhook-sender.ts';
import type { Repositories } from '../../storage/repositories.ts';

export interface SendNewDependencies extends Pick<Repositories, 'webhookDeliveries'> {
  readonly now: () => Date;
}

/**
 * Sends new events, and stores those that were not accepted as deliveries. Returns the number of the first event that is
 * neither accepted nor stored, from which to continue; `null`: none. Starts nothing more once the receiver is down.
 */
export async function sendNew(
  { webhookDeliveries, now }: SendNewDependencies,
  to: { readonly url: string; readonly health: ReceiverHealth; readonly sender: WebhookSender },
  events: readonly NumberedHostEvent[],
): Promise<number | null> {
  const { url, health, sender } = to;
  const actionIds = new Set(events.flatMap(({ facts }) => facts.actionId ?? []));
  const waiting = await webhookDeliveries.waitingActions(url, [...actionIds]);
  const wasDown = health.isDown;
  const parked: ParkedEvent[] = [];
  const left: number[] = [];

  async function sendTurn(turn: readonly NumberedHostEvent[]): Promise<void> {
    let waitsUntil = waiting.get(turn[0]?.facts.actionId ?? '');
    for (const event of turn) {
      if (waitsUntil !== undefined) {
        parked.push({ event, attempts: 0, error: null, nextAttemptAt: waitsUntil });
        continue;
      }
      const result = health.isDown && !wasDown ? 'unsent' : await sender.send(event, 0);
      if (result === 'unsent') {
        left.push(event.seq);
        return;
      }
      if (result === 'taken') continue;
      waitsUntil = result.nextAttemptAt;
      parked.push({ event, attempts: 1, ...result });
    }
  }

  await inTurns(events, ({ seq, facts }) => ({ seq, actionId: facts.actionId ?? null }), sendTurn);
  await webhookDeliveries.park(url, parked, now());
  return left.length === 0 ? null : Math.min(...left);
}
