import { isDeepStrictEqual } from 'node:util';
import type { Action, Reshare } from '../../domain/action.ts';
import type { InteractionGroup } from '../../domain/relevancy.ts';
import type { Claim } from '../../storage/fan-out/fan-outs.ts';
import type { InteractionSummary } from '../../storage/interactions/interactions.ts';
import type { PassContext } from './pass-context.ts';

/** Derives counters, resharers and boosts from the interactions. `null`: the claim is void. */
export async function deriveFromInteractions(
  { interactions, fanOuts }: PassContext,
  claim: Claim,
): Promise<readonly InteractionGroup[] | null> {
  const { id, isBumped } = claim.action;
  // An action that was never bumped has no interactions to query.
  if (!isBumped) return [];
  const summary = (await interactions.summaries([id])).get(id);
  if (summary === undefined) return [];
  // Concurrent changes, or more reshares than are kept, are corrected here by requesting another pass.
  if (!isSameReshares(claim.action.reshares, summary.reshares))
    if (await fanOuts.correctReshares(claim, summary.reshares)) return null;
  // Usually recording an interaction has updated the counters already, and the action need not be written again.
  if (isSameEngagement(claim.action, summary)) return summary.groups;
  const isHeld = await fanOuts.setEngagement(claim, summary.engagement, summary.latest);
  return isHeld ? summary.groups : null;
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
