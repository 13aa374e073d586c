import type { Core } from '../../features/core.ts';
import { positionAbove } from '../../domain/cursor.ts';
import type { FeedEntry, FeedPosition } from '../../domain/newsfeed-item.ts';
import { showUnread } from './count-unread.ts';
import { relevancyCursor } from './read-page.ts';
import { unreadEntries } from './list-scan.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { FirstUnread } from '../../features/shapes.ts';
import { clock } from '../../lib/clock.ts';

/** Upper bound on unread entries examined. */
const MAX_ENTRIES = 1_000;
/** Entries hydrated at a time. */
const BATCH = 25;

/**
 * Where the reader left off: the oldest unread item, by the rules of the list. `null` when nothing is unread. One round trip
 * for up to 1,000 unread entries, plus two for every 25 entries that the rules leave out.
 */
export async function findFirstUnread(core: Core, session: ReaderSession): Promise<FirstUnread | null> {
  const userId = session.identity.userId;
  const reader = await session.profile();
  const unread = await unreadEntries(core, reader).page({ limit: MAX_ENTRIES + 1 });
  const isExact = unread.length <= MAX_ENTRIES;
  for (let end = Math.min(unread.length, MAX_ENTRIES); end > 0; end -= BATCH) {
    const batch: readonly FeedEntry[] = unread.slice(Math.max(0, end - BATCH), end);
    const item = (await showUnread(session, reader, batch)).at(-1);
    if (item !== undefined)
      return { item, isExact, cursor: relevancyCursor(userId, above(item), clock.now()) };
  }
  return null;
}

function above({ relevancy, actionId }: FeedPosition): FeedPosition {
  const { time, actionId: id } = positionAbove({ time: relevancy, actionId });
  return { relevancy: time, actionId: id };
}
