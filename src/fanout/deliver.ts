import type { Action, UserId } from '../domain/action.ts';
import { reachesFollowers } from '../domain/audience.ts';
import type { InteractionGroup } from '../domain/relevancy.ts';
import type { FeedStore, ReaderDelivery } from '../feeds/feed-store.ts';
import type { Gate } from '../lib/gate.ts';
import { forEachInOrder } from '../lib/for-each-in-order.ts';
import { prefetch } from '../lib/prefetch.ts';
import type { Claim, FanOutsRepository } from '../storage/fan-outs.ts';
import type { InteractionsRepository } from '../storage/interactions.ts';
import { announce, removals, type AnnounceDependencies, type Announcement } from './announce.ts';
import { announcePulled, type AnnouncePulledDependencies } from './announce-pulled.ts';
import { audienceOf, type AudienceDependencies, type AudienceMember } from './audience.ts';
import { watchersAmongAudience } from './watchers.ts';
import type { PulledRefs } from '../storage/pulled-refs.ts';
import { raiseFloors, type RaiseFloorDependencies } from './trim-feeds.ts';
import { relevancies, type LiftDependencies } from '../feeds/lift.ts';

/** Chunks of one pass that are under way at the same time. */
const CHUNKS_AT_ONCE = 3;

export interface DeliverDependencies
  extends
    AudienceDependencies,
    AnnouncePulledDependencies,
    Omit<RaiseFloorDependencies, 'feedStore'>,
    LiftDependencies {
  readonly liveLog: AnnounceDependencies['liveLog'] & AnnouncePulledDependencies['liveLog'];
  readonly members: AudienceDependencies['members'] & LiftDependencies['members'];
  readonly follows: AudienceDependencies['follows'] & AnnouncePulledDependencies['follows'];
  readonly pulledRefs: Pick<PulledRefs, 'active'>;
  /** Those of the readers to whom nothing need be delivered; see `pass-by.ts`. */
  readonly passBy: (userIds: readonly UserId[]) => Promise<ReadonlySet<UserId>>;
  readonly interactions: Pick<InteractionsRepository, 'summaries'>;
  readonly feedStore: Pick<FeedStore, 'page' | 'deliver' | 'holders' | 'remove'>;
  readonly fanOuts: Pick<FanOutsRepository, 'checkpoint' | 'setEngagement' | 'setPulled'>;
  readonly chunkSize: number;
  readonly leaseMs: number;
  /** Bounds how many chunks of all passes are delivered at the same time. */
  readonly slots: Pick<Gate, 'run'>;
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

/**
 * Chunks of the audience are delivered side by side, a few at a time, so that the database has work while others are
 * announced. Progress is noted in the order of the audience: behind a checkpoint everything is done. Where the audience is
 * larger than a chunk, who is watching gets it before all of them, since they are the ones who wait for it; a pass that
 * goes on from a checkpoint leaves that to the one before. They do not wait for a slot either.
 */
async function deliverToAll(
  dependencies: DeliverDependencies,
  claim: Claim,
  fence: Fence,
): Promise<PassOutcome> {
  const { chunkSize } = dependencies;
  const action = await withPulled(dependencies, claim);
  const interactions = action === null ? null : await deriveEngagement(dependencies, claim);
  if (action === null || interactions === null) return { kind: 'void' };
  const progress = { delivered: claim.delivered, isVoid: false, isStopped: false };
  let begun = 0;
  let served: Promise<ReadonlySet<UserId>> | undefined;
  const chunks = audienceOf(dependencies, action, { afterUserId: claim.afterUserId, chunkSize });
  await forEachInOrder(prefetch(chunks), CHUNKS_AT_ONCE, {
    mayBegin() {
      progress.isVoid ||= !fence.isHeld();
      progress.isStopped ||= fence.isStopping();
      return !progress.isVoid && !progress.isStopped;
    },
    async work(chunk) {
      served ??=
        claim.afterUserId === null && chunk.length === chunkSize
          ? deliverToWatchers(dependencies, { claim, action, interactions })
          : Promise.resolve(NOBODY);
      // An attempt that was cut off has written beyond its checkpoint by as many chunks as are under way at a time.
      const isFirstAttempt = claim.version === 1 && !(claim.wasCutOff && begun < CHUNKS_AT_ONCE);
      begun += 1;
      const isServed = await served;
      const others = isServed.size === 0 ? chunk : chunk.filter(({ userId }) => !isServed.has(userId));
      const delivery = { claim, action, interactions, chunk: others, isFirstAttempt };
      const given = await dependencies.slots.run(() => deliverChunk(dependencies, delivery));
      return chunk.length - others.length + given.length;
    },
    async conclude(chunk, delivered) {
      progress.delivered += delivered;
      // A short chunk is the last one: the end of the pass is its checkpoint.
      if (chunk.length < chunkSize || progress.isVoid) return;
      progress.isVoid = !(await checkpoint(dependencies, claim, chunk, progress.delivered));
    },
  });
  if (progress.isVoid) return { kind: 'void' };
  if (progress.isStopped) return { kind: 'stopped' };
  const kind = claim.version === 1 ? 'added' : 'updated';
  await announcePulled(dependencies, action, { kind, interactions });
  return { kind: 'complete', delivered: progress.delivered };
}

const NOBODY: ReadonlySet<UserId> = new Set();

/** What a pass delivers. */
interface Delivery {
  readonly claim: Claim;
  readonly action: Action;
  readonly interactions: readonly InteractionGroup[];
}

/** Returns whom it was delivered to. */
async function deliverToWatchers(
  dependencies: DeliverDependencies,
  delivery: Delivery,
): Promise<ReadonlySet<UserId>> {
  const { claim, action } = delivery;
  const isFirstAttempt = claim.version === 1 && !claim.wasCutOff;
  const served = new Set<UserId>();
  for await (const chunk of watchersAmongAudience(dependencies, action))
    for (const userId of await deliverChunk(dependencies, { ...delivery, chunk, isFirstAttempt }))
      served.add(userId);
  return served;
}

interface ChunkDelivery extends Delivery {
  readonly chunk: readonly AudienceMember[];
  readonly isFirstAttempt: boolean;
}

/** Returns whom it was delivered to: those who are not passed by. */
async function deliverChunk(
  dependencies: DeliverDependencies,
  { claim, action, interactions, chunk, isFirstAttempt }: ChunkDelivery,
): Promise<readonly UserId[]> {
  if (chunk.length === 0) return [];
  const passedBy = await dependencies.passBy(chunk.map(({ userId }) => userId));
  const awake = passedBy.size === 0 ? chunk : chunk.filter(({ userId }) => !passedBy.has(userId));
  const userIds = awake.map(({ userId }) => userId);
  const relevancyOf = await relevancies(dependencies, action, interactions, userIds);
  const readers: ReaderDelivery[] = awake.map(({ userId, reasons }) => ({
    userId,
    relevancy: relevancyOf(userId),
    reasons,
  }));
  const outcome = await dependencies.feedStore.deliver({ actionId: action.id, readers, isFirstAttempt });
  await announce(dependencies, announcementsOf(action.id, readers, outcome, claim.wasCutOff));
  await raiseFloors(dependencies, outcome.added);
  return userIds;
}

/**
 * The action with the refs that are not pushed to. Decided once, before anything of it was delivered: what was pushed
 * stays pushed, so that no entry has two places. Null: the claim is void.
 */
async function withPulled(
  { pulledRefs, fanOuts }: DeliverDependencies,
  claim: Claim,
): Promise<Action | null> {
  const { action, afterUserId } = claim;
  const isBegun = afterUserId !== null || action.fanOut.delivered > 0 || action.pullRefIds.length > 0;
  if (isBegun || !reachesFollowers(action)) return action;
  const active = await pulledRefs.active(new Date());
  const pullRefIds = action.refIds.filter((refId) => active.has(refId));
  if (pullRefIds.length === 0) return action;
  return (await fanOuts.setPulled(claim, pullRefIds)) ? { ...action, pullRefIds } : null;
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
 * @param wasCutOff what is there already may have been written by a pass that did not come to announce it: then
 *   everybody is told. Not only those of the chunk after the checkpoint: where the action has changed since, this pass
 *   began anew, and nobody knows how far the other one came.
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
  readers: readonly { readonly userId: UserId }[],
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
  await announcePulled(dependencies, claim.action, { kind: 'removed', interactions: [] });
  for (;;) {
    if (!fence.isHeld()) return { kind: 'void' };
    if (fence.isStopping()) return { kind: 'stopped' };
    const userIds = await feedStore.holders(claim.action.id, chunkSize);
    // Told before it is done: a worker that dies in between tells them again. The rules hide the action already.
    await announce(dependencies, removals(claim.action.id, userIds, new Date()));
    await feedStore.remove(userIds, [claim.action.id]);
    if (userIds.length < chunkSize) return { kind: 'complete', delivered: 0 };
  }
}
