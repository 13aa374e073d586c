import type { Core } from '../../core/core.ts';
import type { FirstUnread, UnreadCount } from '../../core/shapes.ts';
import type { ActionId } from '../../domain/action.ts';
import { positionAbove } from '../../domain/cursor.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { announceListChange } from '../announce.ts';
import { Extent } from '../extent.ts';
import type { EventReaderSession, ReaderSession } from '../session/reader-session.ts';
import { isAboveRead } from './feed-rules.ts';
import { checkFeedFilter } from './filters.ts';
import { type Begun, ListRead } from './list-read.ts';
import { List, MAX_UNREAD } from './list.ts';
import { relevancyCursor } from './orders.ts';
import { collectPage } from './paging.ts';
import { mayHaveUnreadBelow, nameOfList, openStages, show, unreadEntries } from './read-page.ts';
import { type AskedList, checkAskedList, readerOf, viewAsked } from './views.ts';

/**
 * Counts by the rules of the list. Reads at most 101 visible items, plus those individually marked unread. One round trip with a
 * feed model that reads entries together with their reader.
 */
export async function countUnread(core: Core, session: ReaderSession): Promise<UnreadCount> {
  const read = new ListRead(core, session, 'badge');
  if (core.feedStore.open === undefined) return countOf(read, null);
  const first = read.beginUnread(Math.max(MAX_UNREAD + 1, read.expect(BADGE)));
  return read.made(read.counts, 'unread', async () => {
    const known = await first.ahead.known();
    if (known !== null) session.know(known);
    return countOf(read, first);
  });
}

/** The same for a watcher, whose profile is known. */
export async function countUnreadOfWatcher(core: Core, session: EventReaderSession): Promise<UnreadCount> {
  return countOf(new ListRead(core, session, 'badge'), null);
}

/** The page of the badge, among those of which is kept what they need. */
const BADGE = 'badge';

/** @param first read ahead; `null`: nothing */
async function countOf(read: ListRead, first: Begun | null): Promise<UnreadCount> {
  const { session } = read;
  const reader = await session.profile();
  const unread = unreadEntries(read, reader);
  const from = reader.lastRead === null ? 0 : reader.lastRead.getTime() + 1;
  const extent = new Extent();
  const usable = first !== null && (first.query.since?.getTime() ?? 0) <= from ? first : null;
  const scan = async (after: FeedPosition | null, limit: number): Promise<readonly FeedEntry[]> => {
    if (after !== null || usable === null)
      return unread.above({ limit, extent, ...(after === null ? {} : { after }) });
    const entries = await read.page(reader, usable);
    return entries.filter((entry) => isAboveRead(reader, entry));
  };
  const list = new List<FeedPosition, FeedEntry, NewsfeedItem>({
    scan: ({ from: after, limit }) => extent.scan(after, () => scan(after, limit)),
    async select(candidates) {
      const items = await showUnread(session, reader, candidates);
      extent.missed(candidates.length - items.length);
      return items;
    },
    idOf: ({ actionId }) => actionId,
    isAt: () => true,
    extent,
  });
  list.expect(usable?.query.limit ?? 0);
  const { edges, hasMore } = await collectPage<FeedPosition, FeedEntry, NewsfeedItem>({
    page: { size: MAX_UNREAD, isUp: false, from: null },
    scan: (stretch) => list.scan(stretch),
    select: (candidates) => list.select(candidates),
    cursorOf: () => '',
    extent,
  });
  const marked = hasMore ? 0 : await countMarked(read, reader, MAX_UNREAD + 1 - edges.length);
  read.keepNeeded(BADGE, list.lookedAt > MAX_UNREAD + 1 ? list.lookedAt : 0);
  if (hasMore) return { count: edges.length, isExact: false };
  const count = edges.length + marked;
  return { count: Math.min(count, MAX_UNREAD), isExact: count <= MAX_UNREAD };
}

/** Items marked unread that are looked at together: a few more than are wanted, as rules leave out some, and at most so many. */
const MORE = 1.25;
const MARKED_AT_ONCE = 150;

/** Number of items below the read mark that are marked unread, counted up to about a limit: in any order, so a few suffice. */
async function countMarked(read: ListRead, reader: ReaderProfile, limit: number): Promise<number> {
  if (!mayHaveUnreadBelow(reader)) return 0;
  let count = 0;
  let before: ActionId | null = null;
  for (let size = Math.ceil(MORE * limit); count < limit; size = MARKED_AT_ONCE) {
    const ids: readonly ActionId[] = await read.newestUnread(before, size);
    const found = await read.find(reader, ids);
    const below = found.filter((entry) => !isAboveRead(reader, entry));
    count += (await showUnread(read.session, reader, below)).length;
    before = ids.at(-1) ?? null;
    if (ids.length < size) break;
  }
  return count;
}

/** Unread entries that the reader may see, as items. */
function showUnread(
  session: ReaderSession,
  reader: ReaderProfile,
  entries: readonly FeedEntry[],
): Promise<NewsfeedItem[]> {
  return show(session, () => Promise.resolve(reader), entries, UNREAD);
}

const UNREAD = { filter: checkFeedFilter({ unreadOnly: true }), order: 'RELEVANCY' } as const;

/** Upper bound on unread entries examined. */
const MAX_ENTRIES = 1_000;
/** Entries hydrated at a time, at first. */
const BATCH = 25;

/**
 * Where the reader left off: the oldest unread item, by the rules of the list. `null` when nothing is unread, and for a view in
 * another order than RELEVANCY, which has no such place. One round trip for up to 1,000 unread entries, plus two for the oldest 25 of
 * them, and for twice as many each time that the rules leave all of them out.
 * @param asked a view or a list of the reader. Default: the feed
 * @throws FanfareError BAD_USER_INPUT, NOT_FOUND
 */
export async function findFirstUnread(
  core: Core,
  session: ReaderSession,
  asked: Omit<AskedList, 'filter'> = {},
): Promise<FirstUnread | null> {
  const userId = session.identity.userId;
  const filter = checkAskedList(userId, { ...asked, filter: { unreadOnly: true } });
  if ((filter.view?.order ?? 'RELEVANCY') !== 'RELEVANCY') return null;
  const read = new ListRead(core, session, 'first unread');
  const stages = openStages(read, { filter, order: 'RELEVANCY' });
  const unread = await stages.unread(MAX_ENTRIES + 1);
  const isExact = unread.length <= MAX_ENTRIES;
  for (let end = Math.min(unread.length, MAX_ENTRIES), size = BATCH; end > 0; end -= size, size *= 2) {
    const batch: readonly FeedEntry[] = unread.slice(Math.max(0, end - size), end);
    const item = (await stages.show(batch)).at(-1);
    if (item === undefined) continue;
    const { time: relevancy, actionId } = positionAbove({ time: item.relevancy, actionId: item.actionId });
    return { item, isExact, cursor: relevancyCursor(nameOfList(userId, filter), { relevancy, actionId }) };
  }
  return null;
}

/**
 * The topmost unread items, at most so many, among the first 25 unread entries and by the rules of the list: what was marked unread further below is not among them.
 * One round trip. The reader counts as no more active than before.
 */
export async function findTopUnread(
  core: Core,
  session: ReaderSession,
  most: number,
): Promise<readonly NewsfeedItem[]> {
  const reader = await session.profile();
  const entries = await unreadEntries(new ListRead(core, session, 'top unread'), reader).page({
    limit: BATCH,
  });
  return (await showUnread(session, reader, entries)).slice(0, most);
}

/**
 * Moves the read mark up to a relevancy. It never moves back and never beyond now, so later items stay unread.
 * @param list a view, whose mark is that of the feed unless it has its own, or a list of the reader. Default: the feed
 * @throws FanfareError BAD_USER_INPUT, NOT_FOUND
 */
export async function markFeedRead(
  core: Core,
  session: ReaderSession,
  upTo: Date,
  list: Omit<AskedList, 'filter'> = {},
): Promise<void> {
  const { userId } = session.identity;
  const view = viewAsked(list);
  if (view?.listId !== undefined) readerOf(await session.profile(), { view });
  const mark = clock.mark(new Date(Math.min(upTo.getTime(), clock.time())));
  await core.feeds.markRead(userId, mark, view?.hasOwnReadMark === true ? view.name : null);
  await announceListChange(core, [userId], 'marks');
}
