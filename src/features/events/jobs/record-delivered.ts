import type { Action } from '../../../domain/action.ts';
import { MAX_READERS_PER_EVENT } from '../../../domain/host-event.ts';
import { clock } from '../../../lib/clock.ts';
import { inSlices } from '../../../lib/turn.ts';
import type { Claim } from '../../../fan-out/store/fan-out-claim.ts';
import { gainedAmong, type AudienceMember, type AudienceReader } from '../../../fan-out/audience.ts';
import type { Context } from '../../../feed/context.ts';

/** For the first audience, or readers who gained the action by an edit or a reshare; otherwise no query. */
export async function recordDelivered(
  context: Context,
  { action, version, tellsHosts, toldAudience }: Claim,
  chunk: readonly AudienceReader[],
): Promise<void> {
  if (tellsHosts) return recordFirstDelivery(context, action, chunk);
  if (toldAudience === null) return;
  const gained = await gainedAmong(context, { action, before: toldAudience }, chunk);
  await recordFirstDelivery(context, action, gained, version);
}

/**
 * Records delivery events for hosts: all readers in this part of the audience, dormant or not, except readers who mute the
 * actor or have put the action away. Two round trips per thousand readers.
 *
 * @param version of the pass, for readers who gained the action; `null`: the first pass of the action.
 */
export async function recordFirstDelivery(
  { eventOutbox, readerChoices }: Context,
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
