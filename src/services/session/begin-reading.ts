import { compareFeedPositions, FLOOR_ABOVE_ALL } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { FeedQuery } from '../../feeds/feed-store.ts';
import type { FeedAhead } from '../../feeds/read-ahead.ts';
import { makeDue } from '../feed/rebuild-feed.ts';
import type { ReaderSession } from './reader-session.ts';
import { clock } from '../../lib/clock.ts';
import type { ReadingDependencies } from '../service-parts.ts';

/** So many times within the time after which a reader is dormant it is noted that they read. */
const NOTES = 8;

/**
 * The reader's profile for a read of their feed. Notes now and then that the reader is there, which costs a write; the
 * same write tells whether deliveries have passed them by meanwhile. A feed that is not stored, or not any more, is made
 * due for a rebuild; until it is done the reads go by the source.
 */
export async function beginReading(
  { feeds, workSignal, dormantAfterMs }: ReadingDependencies,
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

/** A read that began with its first page. */
export interface BegunPage {
  readonly reader: Promise<ReaderProfile>;
  readonly ahead: FeedAhead;
}

/**
 * Begins a read with its first page, which is asked for while the reader is looked up: that saves a round trip. Where the
 * feed model reads both in one command, the session takes the reader from it.
 */
export function beginPage(
  dependencies: ReadingDependencies,
  session: ReaderSession,
  query: FeedQuery,
): BegunPage {
  const ahead = dependencies.feedReader.readAhead(session.identity.userId, query);
  const reader = ahead.known.then((known) => {
    if (known !== null) session.know(known);
    return beginReading(dependencies, session);
  });
  return { reader, ahead };
}

function isUnstored({ floor }: ReaderProfile): boolean {
  return floor !== null && compareFeedPositions(floor, FLOOR_ABOVE_ALL) === 0;
}
