import type { UnreadCount } from '../../core/shapes.ts';
import { isUnreadItem, type NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { once } from '../../lib/once.ts';
import { Extent } from '../extent.ts';
import type { FeedReads } from '../feed-reader.ts';
import { isAboveRead } from '../page/feed-rules.ts';
import {
  type CheckedFeedFilter,
  entriesFor,
  mostFor,
  learnForFilter,
  NO_FILTER,
  passesFeedFilter,
} from '../page/filters.ts';
import { marksOf } from '../page/hydration.ts';
import { ListRead } from '../page/list-read.ts';
import { asOffered } from '../page/offered.ts';
import { FeedList, type FeedStages, MAX_UNREAD } from '../page/list.ts';
import { openStages, type PageStages, unreadEntries } from '../page/read-page.ts';
import { feedViews, itemsOf, readerOf, viewOfList } from '../page/views.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { countUnreadGroups } from './read-groups.ts';

/** Counts what is unread of a view as its own pages do: its items, or its groups if it is shown in groups. */
export async function countUnreadOfView(
  core: FeedReads,
  session: ReaderSession,
  asked: CheckedFeedFilter,
): Promise<UnreadCount> {
  const filter = await asOffered(core, session.identity.userId, asked);
  const { view, key } = filter;
  if (view?.isGrouped === true) return countUnreadGroups(core, session, filter);
  const order = view?.order ?? 'RELEVANCY';
  const read = new ListRead(core, session, JSON.stringify([key, order]));
  const stages = openStages(read, { filter, order });
  stages.open(MAX_UNREAD + 1);
  return new FeedList({ ...stages, read, withUnread: true }).countUnread([]);
}

/** The same of all views that are counted, by name. */
export async function countUnreadOfViews(
  core: FeedReads,
  session: ReaderSession,
): Promise<ReadonlyMap<string, UnreadCount>> {
  const { userId } = session.identity;
  const filters = await Promise.all(
    feedViews()
      .filter(({ isCounted }) => isCounted)
      .map((view) => asOffered(core, userId, itemsOf(userId, view))),
  );
  return countTogether(core, session, { whole: NO_FILTER, filters });
}

/**
 * The same of lists of the reader, by id, with one read and no more: of a list with few unread items among many the count is not exact.
 * What an exclusive list keeps out of the feed is read with the others.
 */
export async function countUnreadOfLists(
  core: FeedReads,
  session: ReaderSession,
  listIds: readonly string[],
): Promise<ReadonlyMap<string, UnreadCount>> {
  const { userId } = session.identity;
  const filters = listIds.map((listId) => itemsOf(userId, viewOfList(listId)));
  const [first] = filters;
  if (first === undefined) return new Map();
  const whole = { ...NO_FILTER, view: first.view };
  const counts = await countTogether(core, session, { whole, filters });
  return new Map(
    filters.flatMap(({ view }) => {
      const count = counts.get(view?.name ?? '');
      return view?.listId === undefined || count === undefined ? [] : [[view.listId, count] as const];
    }),
  );
}

interface CountedTogether {
  /** The list that all of them are parts of. */
  readonly whole: CheckedFeedFilter;
  readonly filters: readonly CheckedFeedFilter[];
}

/**
 * What is unread of views, by name, with one read of the feed: as many commands as one count. A view is read on its own if it is shown in
 * groups or has items that are not in the feed. One of the configuration also if so few of the unread items are its own that the read stops
 * before it is counted.
 */
async function countTogether(
  core: FeedReads,
  session: ReaderSession,
  { whole, filters }: CountedTogether,
): Promise<ReadonlyMap<string, UnreadCount>> {
  const read = new ListRead(core, session, whole === NO_FILTER ? 'views' : 'lists');
  const stages = openStages(read, { filter: whole, order: 'RELEVANCY' });
  const feed = new FeedList({ ...stages, read, withUnread: true });
  const counts = new Map<string, UnreadCount>();
  // One after the other: the first reads what the others need.
  for (const filter of filters) {
    const name = filter.view?.name ?? '';
    if (!isPartOfFeed(filter)) counts.set(name, await countUnreadOfView(core, session, filter));
    else {
      stages.open(MAX_UNREAD + 1);
      const part = new FeedList({ ...partOf(feed, { filter, read, stages }), read, countedAs: filter.key });
      const count = await part.countUnread([]);
      const isCut = !count.isExact && count.count < MAX_UNREAD && filter.view?.listId === undefined;
      counts.set(name, isCut ? await countUnreadOfView(core, session, filter) : count);
    }
  }
  return counts;
}

function isPartOfFeed(filter: CheckedFeedFilter): boolean {
  if (filter.view?.isGrouped === true || filter.state !== null) return false;
  return entriesFor(filter) === null && mostFor(filter) === null;
}

interface PartOfFeed {
  readonly filter: CheckedFeedFilter;
  readonly read: ListRead;
  readonly stages: PageStages;
}

/** The items of a feed that pass a filter, from what is read of the feed. */
function partOf(feed: FeedList, { filter, read, stages }: PartOfFeed): FeedStages {
  const extent = new Extent();
  const lookUp = async (): Promise<ReaderProfile> => readerOf(await stages.lookUp(), filter);
  const unread = once(async () => unreadEntries(read, await lookUp(), filter));
  return {
    extent,
    open: stages.open,
    skeleton: (stretch) =>
      extent.scan(stretch.from, async () => {
        const entries = await feed.scan(stretch);
        const stop = stages.extent?.stop ?? null;
        if (stop !== null && entries.length < stretch.limit) extent.stopAt(stop);
        return entries;
      }),
    async show(entries) {
      const items = await readAs(read, await lookUp(), await feed.select(entries));
      const known = await learnForFilter(read.session, filter, items);
      const passing = items.filter((item) => passesFeedFilter(filter, item, known, filter.view?.order));
      extent.missed(entries.length - passing.length);
      return passing;
    },
    isAboveRead: async (entry) => isAboveRead(await lookUp(), entry),
    unreadBelow: async (query) => (await unread()).below(null, query),
  };
}

/** The items as unread as they are by the read mark of this reader. */
async function readAs(
  { session }: ListRead,
  reader: ReaderProfile,
  items: readonly NewsfeedItem[],
): Promise<readonly NewsfeedItem[]> {
  const marks = await marksOf(
    session,
    reader,
    items.map(({ actionId }) => actionId),
  );
  return items.map((item, index) => ({
    ...item,
    isUnread: isUnreadItem(reader.lastRead, marks[index] ?? null, item.relevancy),
  }));
}
