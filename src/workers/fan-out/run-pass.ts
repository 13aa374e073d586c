import type { Action } from '../../domain/action.ts';
import { reachesFollowers } from '../../domain/audience.ts';
import { clock } from '../../lib/clock.ts';
import type { Claim } from '../../storage/fan-out/fan-outs.ts';
import { deliverToAll } from './deliver.ts';
import { deriveFromInteractions } from './derive-from-interactions.ts';
import type { Fence } from './fence.ts';
import type { PassOutcome } from './pass-outcome.ts';
import { sweepHolders } from './sweep-holders.ts';
import { withdrawFromAll } from './withdraw.ts';
import type { PassContext } from './pass-context.ts';

/**
 * One pass: makes the feeds match the action as claimed. Visible: everybody in its audience has it and, after an edit of the
 * audience, nobody else, and nobody higher than it stands for them now. Hidden or deleted: nobody has it. Safe to interrupt anywhere and to repeat.
 */
export async function runPass(dependencies: PassContext, claim: Claim, fence: Fence): Promise<PassOutcome> {
  const { action } = claim;
  if (action.isHidden || action.isDeleted) return withdrawFromAll(dependencies, claim, fence);
  const decided = await withPulled(dependencies, claim);
  if (decided === null) return { kind: 'void', reached: null };
  const interactions = await deriveFromInteractions(dependencies, { ...claim, action: decided });
  if (interactions === null) return { kind: 'void', reached: null };
  const next = { claim: { ...claim, action: decided }, interactions };
  // A checkpoint is set only after all of this.
  if (claim.isUnswept && claim.afterUserId === null) {
    const outcome = await sweepHolders(dependencies, next, fence);
    if (outcome === 'void') return { kind: 'void', reached: null };
    if (outcome === 'stopped') return { kind: 'stopped' };
  }
  return deliverToAll(dependencies, next, fence);
}

/**
 * Decides once, in the first pass, which refs are pushed, so that no entry is both pushed and pulled. `null`: the claim is
 * void.
 */
async function withPulled({ pulledRefs, fanOuts }: PassContext, claim: Claim): Promise<Action | null> {
  const { action, afterUserId, undecidedRefIds } = claim;
  const isBegun = afterUserId !== null || action.fanOut.delivered > 0 || action.pullRefIds.length > 0;
  const undecided = isBegun ? undecidedRefIds : action.refIds;
  if (undecided.length === 0 || !reachesFollowers(action)) return action;
  const active = await pulledRefs.active(clock.now());
  const added = undecided.filter((refId) => active.has(refId));
  if (added.length === 0 && undecidedRefIds.length === 0) return action;
  const pullRefIds = [...new Set([...action.pullRefIds, ...added])];
  return (await fanOuts.setPulled(claim, pullRefIds)) ? { ...action, pullRefIds } : null;
}
