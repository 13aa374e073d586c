import type { Repositories } from '../../storage/repositories.ts';

/** A call that takes longer counts as interrupted. Its later writes do no harm. */
const ABANDONED_AFTER_MS = 60_000;
const AT_ONCE = 200;

/**
 * Completes changes of interactions that were interrupted before their action was marked, and that nobody repeats: recounts
 * the action's interactions and requests a pass, which applies the boosts. Safe to interrupt, and to run in several
 * processes at once.
 */
export async function settleAbandonedInteractions(
  { actions, interactions }: Pick<Repositories, 'actions' | 'interactions'>,
  now: Date,
): Promise<void> {
  const before = new Date(now.getTime() - ABANDONED_AFTER_MS);
  for (;;) {
    const abandoned = await interactions.unsettledBefore(before, AT_ONCE);
    if (abandoned.length === 0) return;
    const actionIds = [...new Set(abandoned.map(({ interaction }) => interaction.actionId))];
    const summaries = await interactions.summaries(actionIds);
    for (const actionId of actionIds) {
      const summary = summaries.get(actionId);
      if (summary === undefined) continue;
      const change = { kind: 'derived', engagement: summary.engagement } as const;
      const marked = await actions.markInteraction(actionId, { change, boost: summary.latest, now });
      // A deleted action may have been purged before the interaction was recorded.
      if (marked === null) await interactions.purgeAction(actionId);
    }
    for (const { interaction, settling } of abandoned) {
      await interactions.logModeration(interaction);
      await interactions.settle(interaction.actionId, settling);
    }
    if (abandoned.length < AT_ONCE) return;
  }
}
