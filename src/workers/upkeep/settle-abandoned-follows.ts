import { clock } from '../../lib/clock.ts';
import { countFollowers } from '../../storage/follows/count-followers.ts';
import type { Context } from '../../feeds/context.ts';

/** A call that takes longer counts as interrupted. Its later writes do no harm. */
const ABANDONED_AFTER_MS = 60_000;
const AT_ONCE = 200;

/**
 * Completes interrupted follows and unfollows that nobody repeats. Their progress is unknown, so a rebuild of the feed is
 * requested, which also asks watchers to query it again, and followers are recounted from scratch. Safe to interrupt, and to
 * run in several processes at once.
 */
export async function settleAbandonedFollows(context: Context, now: Date): Promise<void> {
  const { feeds, follows } = context;
  const before = new Date(now.getTime() - ABANDONED_AFTER_MS);
  for (;;) {
    const abandoned = await follows.unsettledBefore(before, AT_ONCE);
    if (abandoned.length === 0) return;
    const followers = new Set(abandoned.map(({ followerId }) => followerId));
    const refIds = new Set(abandoned.map(({ refId }) => refId));
    // First, so that the rebuild is certain whatever happens to this round.
    await feeds.markDue([...followers], clock.now(), { isNotified: false });
    await countFollowers(context, { added: new Map(), uncertain: refIds, epochs: new Map() });
    for (const { followerId, refId, token } of abandoned) await follows.forget({ followerId, refId }, token);
    if (abandoned.length < AT_ONCE) return;
  }
}
