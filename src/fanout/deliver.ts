import type { InteractionGroup } from '../domain/relevancy.ts';
import type { FeedStore, ReaderDelivery } from '../feeds/feed-store.ts';
import { prefetch } from '../lib/prefetch.ts';
import type { Claim, FanOutsRepository } from '../storage/fan-outs.ts';
import type { InteractionsRepository } from '../storage/interactions.ts';
import { announce, removals, type AnnounceDependencies, type Announcement } from './announce.ts';
import { audienceOf, type AudienceDependencies } from './audience.ts';
import { relevancies, type LiftDependencies } from './lift.ts';

export interface DeliverDependencies extends AudienceDependencies, AnnounceDependencies, LiftDependencies {
  readonly members: AudienceDependencies['members'] & LiftDependencies['members'];
  readonly interactions: Pick<InteractionsRepository, 'summaries'>;
  readonly feedStore: Pick<FeedStore, 'deliver' | 'holders' | 'withdraw'>;
  readonly fanOuts: Pick<FanOutsRepository, 'checkpoint' | 'setEngagement'>;
  readonly chunkSize: number;
  readonly leaseMs: number;
}

/** Whether a pass may go on. Asked before every write. */
export interface Fence {
  /** The lease is believed to be held. */
  isHeld(): boolean;
  /** The worker is to stop and hand its work back. */
  isStopping(): boolean;
}

export type PassOutcome =
  | { readonly kind: 'complete'; readonly delivered: number }
  /** The claim is void: lost, or the action has changed. */
  | { readonly kind: 'void' }
  /** Stopped between two chunks on request; a later pass goes on from the checkpoint. */
  | { readonly kind: 'stopped' };

/**
 * One pass: makes the feeds agree with the action as it was when it was claimed. Visible: everybody in its audience
 * holds it; hidden or deleted: nobody does. May be cut off anywhere and repeated.
 */
export async function runPass(
  dependencies: DeliverDependencies,
  claim: Claim,
  fence: Fence,
): Promise<PassOutcome> {
  const { action } = claim;
  return action.isHidden || action.isDeleted
    ? withdrawFromAll(dependencies, claim, fence)
    : deliverToAll(dependencies, claim, fence);
}

async function deliverToAll(
  dependencies: DeliverDependencies,
  claim: Claim,
  fence: Fence,
): Promise<PassOutcome> {
  const { feedStore, chunkSize } = dependencies;
  const { action } = claim;
  const interactions = await deriveEngagement(dependencies, claim);
  if (interactions === null) return { kind: 'void' };
  let delivered = claim.delivered;
  let isFirstChunk = true;
  const chunks = audienceOf(dependencies, action, { afterUserId: claim.afterUserId, chunkSize });
  for await (const chunk of prefetch(chunks)) {
    if (!fence.isHeld()) return { kind: 'void' };
    if (fence.isStopping()) return { kind: 'stopped' };
    const userIds = chunk.map(({ userId }) => userId);
    const relevancyOf = await relevancies(dependencies, action, interactions, userIds);
    const readers: ReaderDelivery[] = chunk.map(({ userId, reasons }) => ({
      userId,
      relevancy: relevancyOf(userId),
      reasons,
    }));
    // An attempt that was cut off has written beyond its checkpoint by one chunk at the most.
    const wasCutOff = claim.attempts > 1 && isFirstChunk;
    const outcome = await feedStore.deliver({
      actionId: action.id,
      readers,
      isFirstAttempt: claim.version === 1 && !wasCutOff,
    });
    isFirstChunk = false;
    delivered += readers.length;
    await announce(dependencies, announcementsOf(action.id, readers, outcome, wasCutOff));
    // A short chunk is the last one: the end of the pass is its checkpoint.
    if (readers.length === chunkSize && !(await checkpoint(dependencies, claim, readers, delivered)))
      return { kind: 'void' };
  }
  return { kind: 'complete', delivered };
}

/** Brings the counters in line with the interactions, and gives what lifts the action. Null: the claim is void. */
async function deriveEngagement(
  { interactions, fanOuts }: DeliverDependencies,
  claim: Claim,
): Promise<readonly InteractionGroup[] | null> {
  const { id, engagement, latest } = claim.action;
  // What was never marked has no interactions: nothing to look up for a new action.
  if (engagement.lastInteraction === null) return [];
  const summary = (await interactions.summaries([id])).get(id);
  if (summary === undefined) return [];
  const { lastInteraction } = summary.engagement;
  const isHeld = await fanOuts.setEngagement(claim, summary.engagement, lastInteraction ?? latest);
  return isHeld ? summary.groups : null;
}

/**
 * @param wasCutOff what is there already may have been written by an attempt that did not come to announce it: then
 *   everybody is told.
 */
function announcementsOf(
  actionId: string,
  readers: readonly ReaderDelivery[],
  outcome: Awaited<ReturnType<FeedStore['deliver']>>,
  wasCutOff: boolean,
): Announcement[] {
  const added = new Set(outcome.added);
  const raised = new Set(outcome.raised);
  return readers.flatMap(({ userId, relevancy, reasons }) => {
    if (!wasCutOff && !added.has(userId) && !raised.has(userId)) return [];
    const kind = added.has(userId) ? 'added' : 'updated';
    return [{ userId, event: { kind, actionId, relevancy, reasons } }];
  });
}

async function checkpoint(
  { fanOuts, leaseMs }: DeliverDependencies,
  claim: Claim,
  readers: readonly ReaderDelivery[],
  delivered: number,
): Promise<boolean> {
  const last = readers.at(-1);
  if (last === undefined) return true;
  return fanOuts.checkpoint(claim, { afterUserId: last.userId, delivered }, new Date(Date.now() + leaseMs));
}

async function withdrawFromAll(
  dependencies: DeliverDependencies,
  claim: Claim,
  fence: Fence,
): Promise<PassOutcome> {
  const { feedStore, chunkSize } = dependencies;
  for (;;) {
    if (!fence.isHeld()) return { kind: 'void' };
    if (fence.isStopping()) return { kind: 'stopped' };
    const userIds = await feedStore.holders(claim.action.id, chunkSize);
    // Told before it is done: a worker that dies in between tells them again. The rules hide the action already.
    await announce(dependencies, removals(claim.action.id, userIds, new Date()));
    await feedStore.withdraw(claim.action.id, userIds);
    if (userIds.length < chunkSize) return { kind: 'complete', delivered: 0 };
  }
}
