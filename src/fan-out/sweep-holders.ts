import type { Context } from '../feed/context.ts';
import type { UserId } from '../domain/action.ts';
import { clock } from '../lib/clock.ts';
import { relevancies } from '../feed/relevancies.ts';
import { announce, removals, surviveLiveLog, type Announcement } from '../feed/announce.ts';
import type { Claim } from './store/fan-out-claim.ts';
import { audienceAmong, formerlyAmong, type AudienceMember } from './audience.ts';
import type { Fence, PassContext, LiftedClaim } from './passes.ts';

const CHUNK = 500;

/**
 * Notifies watchers that an action left their feed: it was addressed to them before edits and is not any more. Costs one
 * presence list, and two queries per 500 watchers and edit. If not all former audiences are known, all other watchers to
 * whom it is not addressed are asked to resync. If the live log does not answer, it asks everybody to resync as soon as it
 * does.
 * @throws errors of the database: the pass is repeated, since nobody else notifies them
 */
export async function notifyFormer(dependencies: Context, claim: Claim): Promise<void> {
  const { liveLog, onLiveLogError } = dependencies;
  const { action, former, isFormerCut } = claim;
  if (former.length === 0 && !isFormerCut) return;
  try {
    for await (const watched of liveLog.allWatched())
      for (let from = 0; from < watched.length; from += CHUNK) {
        const some = watched.slice(from, from + CHUNK);
        const were = await formerlyAmong(dependencies, claim, some);
        const are = new Set((await audienceAmong(dependencies, action, some)).map(({ userId }) => userId));
        const lost = [...were].filter((userId) => !are.has(userId));
        const inDoubt = isFormerCut ? some.filter((userId) => !were.has(userId) && !are.has(userId)) : [];
        const notified = [...removals(action.id, lost, clock.now()), ...inDoubt.map(toReadAgain)];
        await announce(dependencies, notified, { asksWho: false });
      }
  } catch (error) {
    surviveLiveLog(error, onLiveLogError);
  }
}

function toReadAgain(userId: UserId): Announcement {
  return { userId, event: { kind: 'list', change: 'membership' } };
}

/**
 * Removes an action from the stored feeds of readers to whom it is no longer addressed, and puts it where it stands now for
 * those for whom it stood higher before, in chunks, in order of reader id. Runs before the delivery, which restores entries
 * that a concurrent follow added, and only raises.
 */
export async function sweepHolders(
  dependencies: PassContext,
  { claim, interactions }: LiftedClaim,
  fence: Fence,
): Promise<'swept' | 'void' | 'stopped'> {
  const { feedStore, gate, chunkSize: limit } = dependencies;
  const { action, lane } = claim;
  await notifyFormer(dependencies, claim);
  let after: UserId | null = null;
  for (;;) {
    if (!(await fence.isHeld())) return 'void';
    if (fence.isStopping()) return 'stopped';
    const from: UserId | null = after;
    const holders: readonly UserId[] = await gate.run({ lane, kind: 'fan-out' }, async () => {
      const userIds = await feedStore.holders(action.id, { after: from, limit });
      const kept = await takeFromLost(dependencies, claim, userIds);
      await lower(dependencies, { claim, interactions }, kept);
      return userIds;
    });
    if (holders.length < limit) return 'swept';
    after = holders.at(-1) ?? null;
  }
}

/** Returns those whose feeds still store it. */
async function takeFromLost(
  dependencies: PassContext,
  claim: Claim,
  userIds: readonly UserId[],
): Promise<readonly AudienceMember[]> {
  if (userIds.length === 0) return [];
  const { action } = claim;
  const audience = await audienceAmong(dependencies, action, userIds);
  const addressed = new Set(audience.map(({ userId }) => userId));
  // Pulled entries are found at read time and not stored.
  const pushed = audience.flatMap(({ userId, reasons }) => {
    const kept = reasons.filter((reason) => reason !== 'PULL');
    return kept.length === 0 ? [] : [{ userId, reasons: kept }];
  });
  const stored = new Set(pushed.map(({ userId }) => userId));
  const lost = userIds.filter((userId) => !addressed.has(userId));
  const notified = await formerlyAmong(dependencies, claim, lost);
  const untold = lost.filter((userId) => !notified.has(userId));
  // Notify before removing: a worker that dies in between notifies again. The rules already hide the action.
  await announce(dependencies, removals(action.id, untold, clock.now()));
  const unstored = userIds.filter((userId) => !stored.has(userId));
  if (unstored.length > 0) await dependencies.feedStore.remove(unstored, [action.id]);
  return pushed;
}

/**
 * Puts the action lower for readers whom it concerned by what it refers to no longer. The delivery notifies watchers. Costs
 * two queries if the action was ever bumped, and two writes if readers have it too high.
 */
async function lower(
  dependencies: PassContext,
  { claim: { action }, interactions }: LiftedClaim,
  kept: readonly AudienceMember[],
): Promise<void> {
  if (interactions.length === 0 || kept.length === 0) return;
  const { feedStore } = dependencies;
  const userIds = kept.map(({ userId }) => userId);
  const [held, relevancyOf] = await Promise.all([
    feedStore.held(action.id, userIds),
    relevancies(dependencies, action, interactions, userIds),
  ]);
  const tooHigh = new Set(
    held.flatMap(({ userId, relevancy }) => (relevancy > relevancyOf(userId) ? [userId] : [])),
  );
  if (tooHigh.size === 0) return;
  const readers = kept
    .filter(({ userId }) => tooHigh.has(userId))
    .map(({ userId, reasons }) => ({ userId, reasons, relevancy: relevancyOf(userId) }));
  await feedStore.remove([...tooHigh], [action.id]);
  await feedStore.deliver([{ actionId: action.id, readers, isFirstAttempt: false }]);
}
