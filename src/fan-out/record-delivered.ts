import type { Action } from '../domain/action.ts';
import { namedBy } from '../domain/audience.ts';
import { MAX_READERS_PER_EVENT } from '../domain/host-event.ts';
import { clock } from '../lib/clock.ts';
import { inSlices, packed } from '../lib/turn.ts';
import type { Claim } from './store/fan-out-claim.ts';
import { gainedAmong, type AudienceMember, type AudienceReader } from './audience.ts';
import type { Context } from '../feed/context.ts';

/** For first audiences, or readers who gained an action by an edit or a reshare; otherwise no query. */
export async function recordDelivered(
  context: Context,
  deliveries: readonly { readonly claim: Claim; readonly chunk: readonly AudienceReader[] }[],
): Promise<void> {
  const first: FirstDelivery[] = [];
  for (const { claim, chunk } of deliveries) {
    const { action, version, recordsHostEvents, toldAudience: before } = claim;
    if (recordsHostEvents) first.push({ action, chunk });
    else if (before !== null)
      first.push({ action, version, chunk: await gainedAmong(context, { action, before }, chunk) });
  }
  await recordFirstDelivery(context, first);
}

interface FirstDelivery {
  readonly action: Action;
  readonly chunk: readonly AudienceMember[];
  /** The version of the pass, for readers who gained the action. Default: the first pass of the action. */
  readonly version?: number;
}

/**
 * Records delivery events for hosts: all readers in these parts of the audiences, dormant or not, except readers who mute the
 * actor or have put the action away. An action whose descriptor says to notify members has one also without readers: it is in
 * nobody's feed, and they are notified nevertheless. Two round trips per thousand readers.
 */
export async function recordFirstDelivery(
  { eventOutbox, readerChoices }: Context,
  deliveries: readonly FirstDelivery[],
): Promise<void> {
  const events = deliveries.flatMap(({ action, chunk, version = null }) => {
    const isForNotified = version === null && [...namedBy(action.audience).values()].includes(true);
    const parts = packed(chunk, () => 1, MAX_READERS_PER_EVENT);
    const recorded = parts.length === 0 && isForNotified ? [[]] : parts;
    return recorded.map((some) => ({ action, version, some, isForNotified }));
  });
  await inSlices(
    packed(events, ({ some }) => some.length, MAX_READERS_PER_EVENT),
    1,
    async ([group = []]) => {
      const refusing = await readerChoices.refusing(
        group.map(({ action, some }) => ({ action, userIds: some.map(({ userId }) => userId) })),
        clock.now(),
      );
      await eventOutbox.putDelivered(
        group.flatMap(({ action, version, some, isForNotified }, index) => {
          const readers = some
            .filter(({ userId }) => refusing[index]?.has(userId) !== true)
            .map(({ userId, reasons }) => ({ memberId: userId, reasons }));
          if (readers.length === 0 && !isForNotified) return [];
          const [first, last] = [some[0]?.userId ?? '', some.at(-1)?.userId ?? ''];
          return [{ action, version, first, last, readers }];
        }),
      );
    },
  );
}
