import type { Context } from '../../feeds/context.ts';
import type { NumberedHostEvent } from '../../domain/host-event.ts';
import type { ParkedEvent } from '../../storage/events/webhook-deliveries.ts';
import type { Turn, Turns } from './in-turns.ts';
import type { ReceiverHealth } from './receiver-health.ts';
import { concludeDelivery, type RetryTo } from './retry-due.ts';

/**
 * Sends new events, and stores those that were not accepted, or whose request is slow, as deliveries. Returns the number of the
 * first event that is neither accepted nor stored, from which to continue; `null`: none. Starts nothing more once the
 * receiver is down.
 */
export async function sendNew(
  context: Context,
  to: RetryTo & { readonly health: ReceiverHealth; readonly turns: Turns },
  events: readonly NumberedHostEvent[],
): Promise<number | null> {
  const { webhookDeliveries } = context;
  const { health, sender, turns, now } = to;
  const { url } = to.receiver;
  const actionIds = new Set(events.flatMap(({ facts }) => facts.actionId ?? []));
  const waiting = await webhookDeliveries.waitingActions(url, [...actionIds]);
  const wasDown = health.isDown;
  const parked: ParkedEvent[] = [];
  const left: number[] = [];

  async function sendTurn(turn: Turn<NumberedHostEvent>): Promise<void> {
    const events = turn.left;
    let waitsUntil = waiting.get(events[0]?.facts.actionId ?? '');
    for (const [index, event] of events.entries()) {
      turn.left = events.slice(index);
      if (waitsUntil !== undefined) {
        parked.push({ event, attempts: 0, error: null, nextAttemptAt: waitsUntil });
        continue;
      }
      const result = health.isDown && !wasDown ? 'unsent' : await sender.send(event, 0);
      if (turn.late !== null) {
        await turn.late;
        const delivery = await webhookDeliveries.of(url, event.id);
        if (delivery !== null) await concludeDelivery(context, to, delivery, { result, isLate: true });
        return;
      }
      if (result === 'unsent') {
        left.push(event.seq);
        return;
      }
      if (result === 'taken') continue;
      waitsUntil = result.nextAttemptAt;
      parked.push({ event, attempts: 1, ...result });
    }
  }

  await turns.run(events, {
    placeOf: ({ seq, facts }) => ({ seq, actionId: facts.actionId ?? null }),
    work: sendTurn,
    putOff: (some) =>
      webhookDeliveries.park(
        url,
        some.map((event) => ({ event, attempts: 0, error: null, nextAttemptAt: sender.answeredBy() })),
        now(),
      ),
  });
  await webhookDeliveries.park(url, parked, now());
  return left.length === 0 ? null : Math.min(...left);
}
