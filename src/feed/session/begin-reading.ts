import { compareFeedPositions, FLOOR_ABOVE_ALL } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { FeedReads } from '../feed-reader.ts';
import { makeDue } from '../reconcile-feed.ts';
import type { ReaderSession } from './reader-session.ts';
import { clock } from '../../lib/clock.ts';

/** Number of times per dormancy period that a reader's activity is recorded. */
const NOTES = 8;

/**
 * The reader's profile for a read of their feed. Occasionally records that the reader is active; the same write reveals
 * whether deliveries have skipped the feed. If the feed is not stored, or not complete any more, requests a rebuild; until
 * it is done, reads use the source.
 */
export async function beginReading(core: FeedReads, session: ReaderSession): Promise<ReaderProfile> {
  const known = await session.profile();
  const now = clock.now();
  const isNoted =
    known.activeAt !== null && now.getTime() - known.activeAt.getTime() < core.dormantAfterMs / NOTES;
  const profile = isNoted ? known : { ...known, ...(await core.feeds.touch(known.userId, now)) };
  if (profile.isRebuilding || !isUnstored(profile)) return profile;
  await makeDue(core, [profile.userId]);
  return { ...profile, isRebuilding: true };
}

function isUnstored({ floor }: ReaderProfile): boolean {
  return floor !== null && compareFeedPositions(floor, FLOOR_ABOVE_ALL) === 0;
}
