import { clock } from '../../lib/clock.ts';
import { countFollowers, type CountFollowersDependencies } from '../../storage/follows/count-followers.ts';
import type { Repositories } from '../../storage/repositories.ts';

/** A call that takes longer is taken for cut off. What it does after that does no harm. */
const ABANDONED_AFTER_MS = 60_000;
const AT_ONCE = 200;

/**
 * Completes follows and unfollows that were cut off and that nobody repeats. How far they came is not known: the feed is
 * made due for a rebuild, which also has watchers query it again, and the followers are counted from scratch. May be cut
 * off anywhere, and run in any number of processes at once.
 */
export async function settleAbandonedFollows(
  dependencies: CountFollowersDependencies & Pick<Repositories, 'feeds'>,
  now: Date,
): Promise<void> {
  const { feeds, follows } = dependencies;
  const before = new Date(now.getTime() - ABANDONED_AFTER_MS);
  for (;;) {
    const abandoned = await follows.unsettledBefore(before, AT_ONCE);
    if (abandoned.length === 0) return;
    const followers = new Set(abandoned.map(({ followerId }) => followerId));
    const refIds = new Set(abandoned.map(({ refId }) => refId));
    // First: from here on the rebuild is certain, whatever becomes of this round.
    await feeds.markDue([...followers], clock.now(), { isNotified: false });
    await countFollowers(dependencies, { added: new Map(), uncertain: refIds, epochs: new Map() });
    for (const { followerId, refId, token } of abandoned) await follows.forget({ followerId, refId }, token);
    if (abandoned.length < AT_ONCE) return;
  }
}
