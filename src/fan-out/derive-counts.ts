import { isDeepStrictEqual } from 'node:util';
import type { Action, Reshare } from '../domain/action.ts';
import { ABANDONED_AFTER_MS, ON_ITS_WAY_MS } from '../domain/interaction.ts';
import type { InteractionGroup } from '../domain/relevancy.ts';
import type { InteractionSummary } from '../features/interactions/store/interactions.ts';
import { clock } from '../lib/clock.ts';
import type { PassContext } from './passes.ts';
import type { Claim } from './store/fan-outs.ts';

/** Interactions of an action that is read together with others: more would hold them up. */
const MOST_SHARED = 1_000;

/** Derives counters, resharers and boosts from the interactions. `null`: the claim is void. */
export async function deriveFromInteractions(
  { interactions, fanOuts }: PassContext,
  claim: Claim,
): Promise<readonly InteractionGroup[] | null> {
  const { id, isBumped, engagement } = claim.action;
  // An action that was never bumped has no interactions to query.
  if (!isBumped) return [];
  const { comments, likes, reshares, reactions } = engagement;
  const many = reactions.reduce((sum, { count }) => sum + count, comments + likes + reshares) > MOST_SHARED;
  const summary = many ? (await interactions.summaries([id])).get(id) : await interactions.summary(id);
  if (summary === undefined) return [];
  // Concurrent changes, or more reshares than are kept, are corrected here by requesting another pass.
  if (!isSameReshares(claim.action.reshares, summary.reshares))
    if (await fanOuts.correctReshares(claim, summary.reshares)) return null;
  // Usually recording an interaction has updated the counters already, and the action need not be written again.
  if (!isSameEngagement(claim.action, summary)) await correctCounts(fanOuts, claim, summary);
  return summary.groups;
}

/**
 * Counts are corrected when nothing is on its way to the action. Until then they are right by the writes of the calls
 * themselves: what has been found here and is not marked yet would be counted, or taken off, a second time.
 */
async function correctCounts(
  fanOuts: PassContext['fanOuts'],
  claim: Claim,
  { engagement, latest, unsettledSince }: InteractionSummary,
): Promise<void> {
  const ageMs = unsettledSince === null ? Infinity : clock.time() - unsettledSince.getTime();
  if (ageMs > ABANDONED_AFTER_MS) await fanOuts.setEngagement(claim, engagement, latest);
  // It is not known whether the call of an older one is still under way: it requests a pass at its end, or upkeep when it cannot be.
  else if (ageMs < ON_ITS_WAY_MS) await fanOuts.requestRecount(claim);
}

/** Whether the action's counters equal those derived from its interactions. */
function isSameEngagement(
  { engagement: known, latest }: Action,
  { engagement: are, latest: newest }: InteractionSummary,
): boolean {
  return latest.getTime() >= newest.getTime() && isDeepStrictEqual(known, are);
}

function isSameReshares(known: readonly Reshare[], are: readonly Reshare[]): boolean {
  const times = new Map(known.map(({ by, at }) => [by, at.getTime()]));
  return known.length === are.length && are.every(({ by, at }) => times.get(by) === at.getTime());
}
