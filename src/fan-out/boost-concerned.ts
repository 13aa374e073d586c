import type { UserId } from '../domain/action.ts';
import { INTERACTION_KINDS, NOT_CONCERNED, relevancyFor } from '../domain/relevancy.ts';
import { announce, surviveLiveLog } from '../feed/announce.ts';
import { relevancies } from '../feed/relevancies.ts';
import { concernedReaders } from '../feed/store/concerned.ts';
import { audienceAmong, type AudienceMember } from './audience.ts';
import { audienceChunks, deliverChunks, recentOf } from './deliver.ts';
import type { Fence, LiftedClaim, PassContext, PassOutcome } from './passes.ts';

/** Readers per query. */
const CHUNK = 500;

/** Most feeds in which one write raises an action: it takes the database some tenths of a second. */
const MOST_RAISED = 10_000;

/** The work of a pass that does not visit the whole audience. */
export interface Boosts {
  /** Visited one by one. */
  readonly userIds: readonly UserId[];
  /** To where all others rise who have the action; `null`: nobody else does. */
  readonly others: Date | null;
}

/**
 * The readers whose items the interactions since the last pass may lift, if their places are known without visiting everybody: those whom
 * the action concerns, who need not be in its audience, and all others who have it, who rise to the same place. `null`: nothing is known of
 * the last pass, or the whole audience is visited as fast. At most one round trip.
 */
export async function boostsSince(
  { collections, feedStore, weights }: PassContext,
  { claim: { action, lifts }, interactions }: LiftedClaim,
): Promise<Boosts | null> {
  if (lifts === null) return null;
  const { delivered } = action.fanOut;
  const liftsAll = INTERACTION_KINDS.some((kind) => lifts[kind] !== undefined && weights[kind] < 1);
  // A pass over a larger audience shares the database with others, and goes on from where it was interrupted.
  if (liftsAll && (feedStore.raise === undefined || delivered > MOST_RAISED)) return null;
  const recent = recentOf({ lifts }, interactions);
  // An interaction that does not lift for all readers lifts for none in one write.
  if (recent.some(({ notFor }) => notFor !== undefined)) return null;
  const forAll = interactions.filter(({ notFor }) => notFor === undefined);
  const others = liftsAll ? relevancyFor(action, forAll, weights)(NOT_CONCERNED) : null;
  // A pass over the audience visits several chunks at once, and watchers first.
  const most = Math.max(CHUNK, Math.floor(delivered / 10));
  const raising = { action, interactions: recent, raisedTo: others, withReaders: false };
  const { concerned, lacking, isCut } = (await concernedReaders(collections, [raising], most + 1))(raising);
  const all = new Set([...concerned, ...lacking]);
  return isCut || all.size > most ? null : { userIds: [...all], others };
}

/**
 * Boosts the action for all who have it, and for those of the named readers to whom it is addressed, and notifies all other
 * watchers of its new counts.
 */
export async function boost(
  context: PassContext,
  lifted: LiftedClaim,
  { userIds, others: place }: Boosts,
  fence: Fence,
): Promise<PassOutcome> {
  const { claim, interactions } = lifted;
  const { action, lane } = claim;
  if (place !== null) {
    const ended = await endOf(fence);
    if (ended !== null) return ended;
    await context.gate.run({ lane, kind: 'fan-out' }, async () =>
      context.feedStore.raise?.(action.id, place),
    );
  }
  const served = new Set<UserId>();
  for (let from = 0; from < userIds.length; from += CHUNK) {
    const ended = await endOf(fence);
    if (ended !== null) return ended;
    const audience = await audienceAmong(context, action, userIds.slice(from, from + CHUNK));
    // Pulled entries are found at read time and not stored.
    const chunk = audience.flatMap(({ userId, reasons }) => {
      const kept = reasons.filter((reason) => reason !== 'PULL');
      return kept.length === 0 ? [] : [{ userId, reasons: kept }];
    });
    const delivery = { claim, action, interactions, chunk, isFirstAttempt: false };
    const [userIdsServed = []] = await context.gate.run({ lane, kind: 'fan-out' }, () =>
      deliverChunks(context, [delivery]),
    );
    for (const userId of userIdsServed) served.add(userId);
  }
  for await (const readers of watchersOf(context, lifted)) {
    const ended = await endOf(fence);
    if (ended !== null) return ended;
    const others = readers.filter(({ userId }) => !served.has(userId));
    const ids = others.map(({ userId }) => userId);
    const relevancyOf = await relevancies(context, action, interactions, ids);
    const announcements = others.map(({ userId, reasons }) => ({
      userId,
      event: { kind: 'updated' as const, actionId: action.id, relevancy: relevancyOf(userId), reasons },
    }));
    await announce(context, announcements, { asksWho: false });
  }
  return { kind: 'complete', delivered: action.fanOut.delivered };
}

async function endOf(fence: Fence): Promise<PassOutcome | null> {
  if (!(await fence.isHeld())) return { kind: 'void', reached: null };
  return fence.isStopping() ? { kind: 'stopped' } : null;
}

/**
 * Watchers in the audience: all watchers are looked for in it, or all of it among the watchers if these are more. One
 * presence list, and one query per 500 watchers or 1,000 of the audience. Nobody of a part of the live log that does not answer.
 */
async function* watchersOf(
  context: PassContext,
  { claim }: LiftedClaim,
): AsyncGenerator<readonly AudienceMember[], void, undefined> {
  const { liveLog, onLiveLogError } = context;
  const { action } = claim;
  const most = Math.max(CHUNK, action.fanOut.delivered);
  // Readers who pull are in no audience that could be visited.
  const isPulled = action.pullRefIds.length > 0;
  let watchers = new Set<UserId>();
  try {
    for await (const some of liveLog.allWatched()) {
      for (const userId of some) watchers.add(userId);
      if (!isPulled && watchers.size > most) break;
    }
  } catch (error) {
    // Readers of the parts that answered are known.
    surviveLiveLog(error, onLiveLogError);
  }
  if (isPulled || watchers.size <= most) {
    const all = [...watchers];
    for (let from = 0; from < all.length; from += CHUNK)
      yield audienceAmong(context, action, all.slice(from, from + CHUNK));
    return;
  }
  for await (const { value: chunk } of audienceChunks(context, claim)) {
    try {
      watchers = new Set(await liveLog.watched(chunk.map(({ userId }) => userId)));
    } catch (error) {
      surviveLiveLog(error, onLiveLogError);
      continue;
    }
    yield chunk.filter(({ userId }) => watchers.has(userId));
  }
}
