import { newObjectId } from '../../storage/database/mongo.ts';
import type { Core } from '../core.ts';
import type { UserId } from '../../domain/action.ts';
import type { Ref } from '../../domain/member.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { announceTakenBack, announceListChange, resynchronise } from '../../feed/announce.ts';
import { sweepFeed } from '../../feed/reconcile-feed.ts';
import { countFollowers } from './store/count-followers.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { refOf } from '../directory/read-directory.ts';
import { validate } from '../validate.ts';
import { clock } from '../../lib/clock.ts';

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
  const { identity } = session;
  const pair = { followerId: identity.userId, refId: validate(idSchema, refId, ['refId']) };
  const { follows, followerCounts, feeds } = core;
  const token = newObjectId();
  // Set before the spans are removed: it makes reads check delivered entries, including late ones, against the follows.
  const [epochs] = await Promise.all([
    followerCounts.epochs([pair.refId]),
    keepHistory ? null : feeds.markChecksFollows(identity.userId),
  ]);
  const ended = await follows.close(pair, { now: clock.now(), keepHistory, token });
  if (ended !== null) {
    if (!keepHistory) {
      const notified = await sweepFeed(core, identity.userId);
      if (ended.isOurs)
        await announceTakenBack(core, identity.userId, {
          follow: { refId: pair.refId, active: false, spans: ended.spans },
          notified,
        });
    }
    if (!ended.isOurs) await completeForeign(core, identity.userId, keepHistory);
    if (ended.wasAssigned) await lower(core, identity.userId);
    await countFollowers(core, {
      added: new Map(ended.isOurs ? [[pair.refId, -1]] : []),
      uncertain: ended.isOurs ? [] : [pair.refId],
      epochs,
    });
    await follows.forget(pair, ended.token);
  }
  return refOf(core, session, pair.refId);
}

/** Items all over the feed that were boosted by the assignment move down. */
async function lower(core: Core, userId: UserId): Promise<void> {
  await announceListChange(core, [userId], 'membership');
  await core.feeds.markDue([userId], clock.now(), { isNotified: true });
  core.workSignal.notify('rebuild');
}

/** If the ended follow was interrupted before it copied the history to keep, a rebuild completes it. */
async function completeForeign(core: Core, userId: UserId, keepHistory: boolean): Promise<void> {
  if (keepHistory) await core.feeds.markDue([userId], clock.now(), { isNotified: false });
  else await resynchronise(core, [userId]);
}
