import type { Action } from '../../domain/action.ts';
import { MAX_READERS_PER_EVENT } from '../../domain/host-event.ts';
import { clock } from '../../lib/clock.ts';
import { inSlices } from '../../lib/in-slices.ts';
import type { EventOutboxRepository } from '../../storage/event-outbox.ts';
import type { ReaderChoicesRepository } from '../../storage/reader-choices.ts';
import type { AudienceMember } from '../fan-out/audience.ts';

export interface TellDeliveredDependencies {
  readonly eventOutbox: EventOutboxRepository;
  readonly readerChoices: ReaderChoicesRepository;
}

/**
 * Notes for hosts whom an action comes to: everybody in this part of its audience, dormant or not, but who mutes its
 * actor or has put it away. Two round trips for each thousand.
 */
export async function tellDelivered(
  { eventOutbox, readerChoices }: TellDeliveredDependencies,
  action: Action,
  chunk: readonly AudienceMember[],
): Promise<void> {
  await inSlices(chunk, MAX_READERS_PER_EVENT, async (some) => {
    const first = some[0];
    const last = some.at(-1);
    if (first === undefined || last === undefined) return;
    const without = await readerChoices.refusing(
      action,
      some.map(({ userId }) => userId),
      clock.now(),
    );
    const readers = some
      .filter(({ userId }) => !without.has(userId))
      .map(({ userId, reasons }) => ({ memberId: userId, reasons }));
    if (readers.length > 0)
      await eventOutbox.putDelivered(action, { first: first.userId, last: last.userId }, readers);
  });
}
