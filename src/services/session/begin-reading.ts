import { compareFeedPositions, FLOOR_ABOVE_ALL } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { WorkSignal } from '../../realtime/work-signal.ts';
import type { FeedsRepository } from '../../storage/feeds.ts';
import { makeDue } from '../feed/rebuild-feed.ts';
import type { ReaderSession } from './reader-session.ts';
import { clock } from '../../lib/clock.ts';

export interface BeginReadingDependencies {
  readonly feeds: Pick<FeedsRepository, 'touch' | 'markDue'>;
  readonly workSignal: Pick<WorkSignal, 'notify'>;
  /** That somebody reads is noted several times within this time. */
  readonly dormantAfterMs: number;
}

/** So many times within the time after which a reader is dormant it is noted that they read. */
const NOTES = 8;

/**
 * The reader's profile for a read of their feed. Notes now and then that the reader is there, which costs a write; the
 * same write tells whether deliveries have passed them by meanwhile. A feed that is not stored, or not any more, is made
 * due for a rebuild; until it is done the reads go by the source.
 */
export async function beginReading(
  { feeds, workSignal, dormantAfterMs }: BeginReadingDependencies,
  session: ReaderSession,
): Promise<ReaderProfile> {
  const known = await session.profile();
  const now = clock.now();
  const isNoted =
    known.activeAt !== null && now.getTime() - known.activeAt.getTime() < dormantAfterMs / NOTES;
  const profile = isNoted ? known : { ...known, ...(await feeds.touch(known.userId, now)) };
  if (profile.isRebuilding || !isUnstored(profile)) return profile;
  await makeDue({ feeds, workSignal }, [profile.userId]);
  return { ...profile, isRebuilding: true };
}

function isUnstored({ floor }: ReaderProfile): boolean {
  return floor !== null && compareFeedPositions(floor, FLOOR_ABOVE_ALL) === 0;
}
