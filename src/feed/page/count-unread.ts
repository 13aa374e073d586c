import type { Core } from '../../features/core.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { UnreadCount } from '../../features/shapes.ts';
import { MAX_UNREAD, unreadEntries } from './list-scan.ts';
import { checkFeedFilter } from './filters.ts';
import { collectPage } from './paging.ts';
import { showEntries } from './read-page.ts';

/** Counts by the rules of the list. Reads at most 101 visible items, plus those individually marked unread. */
export async function countUnread(core: Core, session: ReaderSession): Promise<UnreadCount> {
  const reader = await session.profile();
  const unread = unreadEntries(core, reader);
  const { edges, hasNextPage } = await collectPage<FeedPosition, FeedEntry, NewsfeedItem>({
    size: MAX_UNREAD,
    after: null,
    scan: (after, limit) => unread.page({ limit, ...(after === null ? {} : { after }) }),
    select: (candidates) => showUnread(session, reader, candidates),
    cursorOf: () => '',
  });
  return { count: edges.length, isExact: !hasNextPage };
}

/** Unread entries that the reader may see, as items. */
export function showUnread(
  session: ReaderSession,
  reader: ReaderProfile,
  entries: readonly FeedEntry[],
): Promise<NewsfeedItem[]> {
  return showEntries(session, () => Promise.resolve(reader), entries, UNREAD);
}

const UNREAD = { filter: checkFeedFilter({ unreadOnly: true }), order: 'RELEVANCY' } as const;
