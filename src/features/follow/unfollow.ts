import { newObjectId } from '../../storage/database/mongo.ts';
import type { Core } from '../../core/core.ts';
import type { Context } from '../../feed/context.ts';
import type { Follow } from '../../domain/viewer.ts';
import { FanfareError } from '../../domain/errors.ts';
import { endedSpans } from '../../domain/follow-span.ts';
import { blockWith, nobodyNamed } from '../../feed/loads/own-blocks.ts';
import type { FollowPair } from '../../storage/documents/follow-document.ts';
import type { UserId, RefId } from '../../domain/action.ts';
import type { Ref } from '../../domain/member.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { announceTakenBack, announceListChange, resynchronise } from '../../feed/announce.ts';
import { sweepFeed } from '../../feed/reconcile-feed.ts';
import { countFollowers } from './store/count-followers.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { refOf } from '../directory/read-directory.ts';
import { announceFollowers } from '../../feed/announce.ts';
import { validate, requireRole } from '../../core/validate.ts';
import { clock } from '../../lib/clock.ts';
import { z } from 'zod';
import type { Identity } from '../../domain/viewer.ts';
import type { ClosingTokens, UnsettledFollow } from './store/follows.ts';
import { checkCount } from '../directory/directory.ts';
import type { FollowPairInput } from '../../core/shapes.ts';

/**
 * Ends a follow: nothing new is delivered for it. With history, delivered items stay. Without, all spans of the ref are
 * removed, and with them the items that are in the feed only because of this follow. Unfollowing an unfollowed ref changes
 * nothing, but completes an interrupted call.
 * @throws FanfareError BAD_USER_INPUT
 */
export async function unfollow(
  core: Core,
  session: ReaderSession,
  refId: string,
  keepHistory: boolean,
): Promise<Ref> {
  const pair = { followerId: session.identity.userId, refId: validate(idSchema, refId, ['refId']) };
  const block = await blockWith(session, pair.refId);
  if (block !== null) {
    // It has ended the follow, and the answer would describe the other.
    if (!block.isUnknown || block.isOwn) throw new FanfareError('NOT_FOUND', 'There is no such ref');
    if (!keepHistory) await core.feeds.markChecksFollows(pair.followerId);
    const ended = await endOfNobody(core, pair, block.followed, keepHistory);
    // As for any other, or it could be told from it.
    if (!keepHistory && ended !== null) await sweepFeed(core, pair.followerId);
    return nobodyNamed(session, pair.refId, ended);
  }
  return endFollow(core, session, pair, keepHistory);
}

/** Ends what a member has done to follow another who blocks them. */
export async function endOfNobody(
  core: Core,
  pair: FollowPair,
  followed: Follow | null,
  keepHistory: boolean,
): Promise<Follow | null> {
  if (followed === null || (keepHistory && !followed.active)) return followed;
  const ended = {
    ...{ refId: pair.refId, active: false },
    spans: keepHistory ? endedSpans(followed, clock.now()) : [],
  };
  await core.blocks.setFollowed(pair, ended);
  return ended;
}

/** `unfollow`, whether or not there is a block. */
export async function endFollow(
  core: Core,
  session: ReaderSession,
  pair: FollowPair,
  keepHistory: boolean,
): Promise<Ref> {
  await end(core, pair, keepHistory);
  return refOf(session, pair.refId);
}

/** Of whom nobody asks to: there is a block between the two. History is kept. */
export const endBlockedFollow = (context: Context, pair: FollowPair): Promise<void> =>
  end(context, pair, true);

async function end(context: Context, pair: FollowPair, keepHistory: boolean): Promise<void> {
  const { followerId } = pair;
  const { follows, followerCounts, feeds } = context;
  const token = newObjectId();
  // Set before the spans are removed: it makes reads check delivered entries, including late ones, against the follows.
  const [epochs] = await Promise.all([
    followerCounts.epochs([pair.refId]),
    keepHistory ? null : feeds.markChecksFollows(followerId),
  ]);
  const ended = await follows.close(pair, { now: clock.now(), keepHistory, token });
  if (ended !== null) {
    if (!keepHistory) {
      const notified = await sweepFeed(context, followerId);
      if (ended.isOurs)
        await announceTakenBack(context, followerId, {
          follow: { refId: pair.refId, active: false, spans: ended.spans },
          notified,
        });
    }
    if (!ended.isOurs) await completeForeign(context, followerId, keepHistory);
    if (ended.wasAssigned) await lower(context, followerId);
    await countFollowers(context, {
      added: new Map(ended.isOurs ? [[pair.refId, -1]] : []),
      uncertain: ended.isOurs ? [] : [pair.refId],
      epochs,
    });
    await follows.forget(pair, ended.token);
    await announceFollowers(context, [pair.refId], false);
  }
}

/** Items all over the feed that were boosted by the assignment move down. */
async function lower(context: Context, userId: UserId): Promise<void> {
  await announceListChange(context, [userId], 'membership');
  await context.feedRebuilds.markDue([userId], clock.now(), { isNotified: true });
  context.workSignal.notify('rebuild');
}

/** If the ended follow was interrupted before it copied the history to keep, a rebuild completes it. */
async function completeForeign(context: Context, userId: UserId, keepHistory: boolean): Promise<void> {
  if (keepHistory) await context.feedRebuilds.markDue([userId], clock.now(), { isNotified: false });
  else await resynchronise(context, [userId]);
}

/**
 * Ends follows on behalf of members. The write that ends them is the commit point; it leaves marks that let a retry or
 * upkeep complete the remaining steps. Without history, items that came only through these follows disappear from feeds at
 * once by the rules, and from stored feeds by a rebuild; watchers are asked to query the feed again. Pairs that are not
 * followed are ignored.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT
 */
export async function unfollowMany(
  core: Core,
  identity: Identity,
  inputs: readonly FollowPairInput[],
  keepHistory: boolean,
): Promise<number> {
  requireRole(identity, 'service');
  const given = validate(
    z.array(z.strictObject({ followerId: idSchema, refId: idSchema })),
    checkCount(inputs, 'pairs').map((pair) => ({ ...pair })),
    ['pairs'],
  );
  const pairs = [
    ...new Map(given.map((pair) => [JSON.stringify([pair.followerId, pair.refId]), pair])).values(),
  ];
  if (pairs.length === 0) return inputs.length;
  const { feeds, followEnds, followerCounts } = core;
  const tokens = { closed: newObjectId(), dropped: newObjectId() };
  // Set before the spans are removed: it makes reads check delivered entries, including late ones, against the follows.
  const [epochs] = await Promise.all([
    followerCounts.epochs([...new Set(pairs.map(({ refId }) => refId))]),
    keepHistory
      ? null
      : feeds.markFollows([...new Set(pairs.map(({ followerId }) => followerId))], { checksFollows: true }),
  ]);
  await followEnds.close(pairs, { now: clock.now(), keepHistory, tokens });
  const ended = await core.follows.unsettled(pairs);
  if (ended.length === 0) return inputs.length;
  await bringFeedsInLine(core, ended, { keepHistory, tokens });
  await countFollowers(core, { ...changesOf(ended, tokens), epochs });
  await followEnds.forget(ended);
  await announceFollowers(
    core,
    ended.map(({ refId }) => refId),
    false,
  );
  return inputs.length;
}

/** For follows left behind by another call it is unknown whether they were counted. */
function changesOf(ended: readonly UnsettledFollow[], tokens: ClosingTokens) {
  const added = new Map<RefId, number>();
  const uncertain: RefId[] = [];
  for (const { refId, token } of ended)
    if (token === tokens.closed) added.set(refId, (added.get(refId) ?? 0) - 1);
    else if (token !== tokens.dropped) uncertain.push(refId);
  return { added, uncertain };
}

/** Even with history kept, items boosted by an assignment move down, and an interrupted follow may lack items. */
async function bringFeedsInLine(
  core: Core,
  ended: readonly UnsettledFollow[],
  { keepHistory, tokens }: { readonly keepHistory: boolean; readonly tokens: ClosingTokens },
): Promise<void> {
  const isForeign = ({ token }: UnsettledFollow): boolean =>
    token !== tokens.closed && token !== tokens.dropped;
  const notified = readersOf(keepHistory ? ended.filter(({ isAssigned }) => isAssigned === true) : ended);
  const notNotified = readersOf(keepHistory ? ended.filter(isForeign) : []);
  if (notified.length + notNotified.length === 0) return;
  await announceListChange(core, notified, 'membership');
  await core.feedRebuilds.markDue(notified, clock.now(), { isNotified: true });
  await core.feedRebuilds.markDue(notNotified, clock.now(), { isNotified: false });
  core.workSignal.notify('rebuild');
}

function readersOf(follows: readonly UnsettledFollow[]): UserId[] {
  return [...new Set(follows.map(({ followerId }) => followerId))];
}
