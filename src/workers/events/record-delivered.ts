import type { Action } from '../../domain/action.ts';
import { MAX_READERS_PER_EVENT } from '../../domain/host-event.ts';
import { clock } from '../../lib/clock.ts';
import { inSlices } from '../../lib/in-slices.ts';
import type { Claim } from '../../storage/fan-out/fan-out-claim.ts';
import { gainedAmong, type AudienceMember, type AudienceReader } from '../fan-out/audience.ts';
import type { DeliverDependencies } from '../fan-out/fan-out-dependencies.ts';

/** For its first audience, or who came to it by an edit or a reshare; else nothing is looked up. */
export async function recordDelivered(
  dependencies: DeliverDependencies,
  {
    action,
    version,
    tellsHosts,
    toldAudience,
  }: Pick<Claim, 'action' | 'version' | 'tellsHosts' | 'toldAudience'>,
  chunk: readonly AudienceReader[],
): Promise<void> {
  if (tellsHosts) return recordFirstDelivery(dependencies, action, chunk);
  if (toldAudience === null) return;
  const gained = await gainedAmong(dependencies, { action, before: toldAudience }, chunk);
  await recordFirstDelivery(dependencies, action, gained, version);
}

/**
 * Notes for hosts whom an action comes to: everybody in this part of its audience, dormant or not, but who mutes its
 * actor or has put it away. Two round trips for each thousand.
 *
 * @param version of the pass that brings it to who gained it; null: it is the first to come to its end.
 */
export async function recordFirstDelivery(
  { eventOutbox, readerChoices }: Pick<DeliverDependencies, 'eventOutbox' | 'readerChoices'>,
  action: Action,
  chunk: readonly AudienceMember[],
  version: number | null = null,
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
      await eventOutbox.putDelivered(action, { first: first.userId, last: last.userId, version }, readers);
  });
}
