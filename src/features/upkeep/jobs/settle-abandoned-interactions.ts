import type { ActionId } from '../../../domain/action.ts';
import type { Context } from '../../../feed/context.ts';

/** A call that takes longer counts as interrupted. Its later writes do no harm. */
const ABANDONED_AFTER_MS = 60_000;
const AT_ONCE = 200;

/**
 * Completes changes of interactions that were interrupted before their action was marked, and that nobody repeats: recounts
 * the action's interactions and requests a pass, which applies the boosts. Safe to interrupt, and to run in several
 * processes at once.
 *
 * @throws the first error. What belongs to other actions is completed nevertheless
 */
export async function settleAbandonedInteractions(
  { actions, interactions }: Context,
  now: Date,
): Promise<void> {
  const before = new Date(now.getTime() - ABANDONED_AFTER_MS);
  const failures = new Map<ActionId, unknown>();
  for (;;) {
    const abandoned = await interactions.unsettledBefore(before, AT_ONCE);
    const open = abandoned.filter(({ interaction }) => !failures.has(interaction.actionId));
    if (open.length === 0) break;
    const actionIds = [...new Set(open.map(({ interaction }) => interaction.actionId))];
    const summaries = await interactions.summaries(actionIds);
    for (const actionId of actionIds) {
      const summary = summaries.get(actionId);
      if (summary === undefined) continue;
      const change = { kind: 'derived', engagement: summary.engagement } as const;
      try {
        const marked = await actions.markInteraction(actionId, { change, boost: summary.latest, now });
        // A deleted action may have been purged before the interaction was recorded.
        if (marked === null) await interactions.purgeAction(actionId);
      } catch (error) {
        failures.set(actionId, error);
      }
    }
    for (const { interaction, settling } of open) {
      if (failures.has(interaction.actionId)) continue;
      await interactions.logModeration(interaction);
      await interactions.settle(interaction.actionId, settling);
    }
    if (abandoned.length < AT_ONCE) break;
  }
  for (const error of failures.values()) throw error;
}
