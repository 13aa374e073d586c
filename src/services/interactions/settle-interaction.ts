import type { Action, ActionId } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { Interaction } from '../../domain/interaction.ts';
import type { ReshareChange } from '../../storage/stages/reshare-stages.ts';
import { INTERACTION_KINDS } from '../../domain/relevancy.ts';
import type { EngagementChange } from '../../storage/stages/interaction-stages.ts';
import type { SettlingToken } from '../../storage/interactions/interaction-records.ts';
import { clock } from '../../lib/clock.ts';
import type { InteractionDependencies } from '../service-parts.ts';

/** What else a change of interactions does to their action. */
export interface SettledBy {
  /**
   * The time of what has changed. Also of what was taken back or hidden: who recorded it may have been cut off before
   * they marked its action, and it lifts the action all the same.
   */
  readonly boost: Date;
  readonly settling: SettlingToken;
  /** Whether it passes the action on now, or does so no more; null: neither. */
  readonly reshare: ReshareChange | null;
}

/** What an interaction in the state it is in now means for who has passed its action on. */
export function reshareOf({
  actorId: by,
  passedOn: at,
  state,
}: Pick<Interaction, 'actorId' | 'passedOn' | 'state'>): ReshareChange | null {
  if (at === null) return null;
  return state === 'VISIBLE' ? { kind: 'given', by, at } : { kind: 'taken', by };
}

/**
 * Marks a change of interactions on their action, whose pass derives the counts, and settles it. Until then upkeep finds
 * the change, should nobody come back to it. Two round trips.
 * @throws FanfareError NOT_FOUND when the action is gone
 */
export async function settleInteraction(
  { actions, interactions, workSignal }: InteractionDependencies,
  actionId: ActionId,
  change: EngagementChange,
  { boost, settling, reshare }: SettledBy,
): Promise<Action> {
  const marked = await actions.markInteraction(actionId, { change, boost, reshare, now: clock.now() });
  if (marked === null) throw noSuchAction();
  workSignal.notify();
  await interactions.settle(actionId, settling);
  return marked;
}

/** For a change that was cut off, of which nobody knows what was counted: counts again, by one round trip more. */
export async function settleUnknown(
  dependencies: InteractionDependencies,
  interaction: Pick<Interaction, 'actionId' | 'at' | 'actorId' | 'passedOn' | 'state'>,
  settling: SettlingToken,
): Promise<Action> {
  const { actionId, at } = interaction;
  const summary = (await dependencies.interactions.summaries([actionId])).get(actionId);
  const change: EngagementChange =
    summary === undefined ? { kind: 'none' } : { kind: 'derived', engagement: summary.engagement };
  return settleInteraction(dependencies, actionId, change, {
    boost: at,
    settling,
    reshare: reshareOf(interaction),
  });
}

/** What so many visible interactions less come to. One round trip where the newest may be among them, else none. */
export async function takenFrom(
  { interactions }: Pick<InteractionDependencies, 'interactions'>,
  action: Action,
  { kind, reaction, at }: Pick<Interaction, 'kind' | 'reaction' | 'at'>,
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

export function noSuchAction(): FanfareError {
  return new FanfareError('NOT_FOUND', 'There is no such action');
}

/** For what is not there and for what may not be seen. */
export function noSuchInteraction(): FanfareError {
  return new FanfareError('NOT_FOUND', 'There is no such interaction');
}
