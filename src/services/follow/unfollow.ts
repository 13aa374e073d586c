import type { UserId } from '../../domain/action.ts';
import type { Ref } from '../../domain/member.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { announceTakenBack } from '../../feeds/announce-taken-back.ts';
import { announceListChange, resynchronise } from '../../realtime/announce.ts';
import { sweepFeed } from '../../feeds/reconcile-feed.ts';
import { countFollowers } from '../../storage/follows/count-followers.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { refOf } from './follow.ts';
import { validate } from '../validate.ts';
import { clock } from '../../lib/clock.ts';
import type { FollowDependencies } from '../service-parts.ts';

/**
 * Ends a follow: nothing new comes. With its history kept, what came stays. Without, every span of the ref goes, and
 * with it what is in the feed for this follow alone. Unfollowing what is not followed changes nothing, and completes
 * what was cut off.
 * @throws FanfareError BAD_USER_INPUT
 */
export async function unfollow(
  dependencies: FollowDependencies,
  session: ReaderSession,
  refId: string,
  keepHistory: boolean,
): Promise<Ref> {
  const { identity } = session;
  const pair = { followerId: identity.userId, refId: validate(idSchema, refId, ['refId']) };
  const { follows, followerCounts, feeds } = dependencies;
  const token = dependencies.newToken();
  // Before the spans go: from then on entries delivered for a follow are checked against it, late ones included.
  const [epochs] = await Promise.all([
    followerCounts.epochs([pair.refId]),
    keepHistory ? null : feeds.markChecksFollows(identity.userId),
  ]);
  const ended = await follows.close(pair, { now: clock.now(), keepHistory, token });
  if (ended !== null) {
    if (!keepHistory) {
      const notified = await sweepFeed(dependencies, identity.userId);
      if (ended.isOurs)
        await announceTakenBack(dependencies, identity.userId, {
          follow: { refId: pair.refId, active: false, spans: ended.spans },
          notified,
        });
    }
    if (!ended.isOurs) await completeForeign(dependencies, identity.userId, keepHistory);
    if (ended.wasAssigned) await lower(dependencies, identity.userId);
    await countFollowers(dependencies, {
      added: new Map(ended.isOurs ? [[pair.refId, -1]] : []),
      uncertain: ended.isOurs ? [] : [pair.refId],
      epochs,
    });
    await follows.forget(pair, ended.token);
  }
  return refOf(session, pair.refId);
}

/** What was lifted because it was assigned stands lower now, all over the feed. */
async function lower(dependencies: FollowDependencies, userId: UserId): Promise<void> {
  await announceListChange(dependencies, [userId], 'membership');
  await dependencies.feeds.markDue([userId], clock.now(), { isNotified: true });
  dependencies.workSignal.notify();
}

/** Where the follow that ends was cut off before it brought the history that is kept, the rebuild does. */
async function completeForeign(
  dependencies: FollowDependencies,
  userId: UserId,
  keepHistory: boolean,
): Promise<void> {
  if (keepHistory) await dependencies.feeds.markDue([userId], clock.now(), { isNotified: false });
  else await resynchronise(dependencies, [userId]);
}
