import { noSuchAction } from '../../feed/page/read-actions.ts';
import type { Core } from '../core.ts';
import type { Action } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { Interaction } from '../../domain/interaction.ts';
import { INTERACTION_KINDS, type Lifts } from '../../domain/relevancy.ts';
import { clock } from '../../lib/clock.ts';
import type { EngagementChange, ReshareChange } from '../../storage/stages/interaction-stages.ts';
import { announceInteraction } from '../notifications/announce-notifications.ts';
import type { SettlingToken } from './store/interaction-records.ts';

/** Effect of an interaction in its current state on the reshares of its action. */
function reshareOf({ actorId: by, passedOn: at, state }: Interaction): ReshareChange | null {
  if (at === null) return null;
  return state === 'VISIBLE' ? { kind: 'given', by, at } : { kind: 'taken', by };
}

/**
 * Marks the action as changed by an interaction, so that a fan-out pass derives the counts, notifies whom it concerns, and then
 * settles the change. If this is interrupted before, upkeep finds the change. Removed interactions still boost: the recording call
 * may have been interrupted before it marked the action. Two round trips.
 * @param interaction as it is now.
 * @throws FanfareError NOT_FOUND when the action is gone
 */
export async function settleInteraction(
  core: Core,
  interaction: Interaction,
  change: EngagementChange,
  settling: SettlingToken,
): Promise<Action> {
  const { actionId, at: boost } = interaction;
  const reshare = reshareOf(interaction);
  const lifts = liftsOf(interaction, change);
  const marked = await core.actions.markInteraction(actionId, {
    ...{ change, boost, lifts, reshare, now: clock.now() },
  });
  if (marked === null) throw noSuchAction();
  core.workSignal.notify('fan-out');
  await announceInteraction(core, marked, interaction);
  await core.interactions.settle(actionId, settling);
  return marked;
}

/** Several comments of a member are removed at once, and of an interrupted change it is not known what else it was. */
function liftsOf({ kind, at }: Interaction, change: EngagementChange): Lifts {
  const isAlone = change.kind === 'given' || (change.kind !== 'derived' && kind !== 'COMMENT');
  return { [kind]: isAlone ? at : new Date(0) };
}

/** Settles an interrupted change, whose effect on the counts is unknown: recounts, with one more round trip. */
export async function settleUnknown(
  core: Core,
  interaction: Interaction,
  settling: SettlingToken,
): Promise<Action> {
  const { actionId } = interaction;
  const summary = (await core.interactions.summaries([actionId])).get(actionId);
  const change: EngagementChange =
    summary === undefined ? { kind: 'none' } : { kind: 'derived', engagement: summary.engagement };
  return settleInteraction(core, interaction, change, settling);
}

/** New counts after removing visible interactions. One round trip when the newest may be among them, otherwise none. */
export async function takenFrom(
  { interactions }: Core,
  action: Action,
  { kind, reaction, at }: Interaction,
  count: number,
): Promise<EngagementChange> {
  if (count === 0) return { kind: 'none' };
  const { lastInteraction } = action.engagement;
  if (count === 1 && lastInteraction !== null && at.getTime() < lastInteraction.getTime())
    return { kind: 'taken', of: kind, reaction, count, lastInteraction: null };
  const newest = await interactions.newestOf([action.id], {
    kinds: INTERACTION_KINDS,
    after: null,
    limit: 1,
    withHidden: false,
  });
  const is = newest.get(action.id)?.[0]?.at ?? null;
  return { kind: 'taken', of: kind, reaction, count, lastInteraction: { is } };
}

/** Used both for missing and for invisible interactions. */
export function noSuchInteraction(): FanfareError {
  return new FanfareError('NOT_FOUND', 'There is no such interaction');
}
