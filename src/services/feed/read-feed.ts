import { decodePosition, encodePosition } from '../../domain/cursor.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import type { FeedReader } from '../../feeds/feed-reader.ts';
import type { LiveLog } from '../../realtime/live-log.ts';
import type { ItemMarksRepository } from '../../storage/item-marks.ts';
import type { SnoozesRepository } from '../../storage/snoozes.ts';
import { hydrateOne, presentEntry } from './feed-rules.ts';
import { openFeedList, present, type FeedListDependencies } from './feed-list.ts';
import { FeedScan, MAX_UNREAD } from './feed-scan.ts';
import { checkFeedFilter } from './filters.ts';
import { unreadEntries } from './unread-entries.ts';
import { collectPage, pageSize } from './paging.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { OrderedPage } from './ordered-page.ts';
import { readRecent } from './read-recent.ts';
import type { RankingDependencies } from './ranked-score.ts';
import { readTop } from './read-top.ts';
import type { FeedFilter, FeedOrder, FeedPage, Page, PageArgs, UnreadCount } from '../shapes.ts';
import { clock } from '../../lib/clock.ts';

export interface ReadFeedDependencies {
  readonly feedReader: FeedReader;
  readonly itemMarks: Pick<ItemMarksRepository, 'unread' | 'list'>;
  readonly snoozes: Pick<SnoozesRepository, 'active'>;
}

interface LiveCursorDependencies {
  readonly liveLog: Pick<LiveLog, 'position'>;
  /** The live log could not be reached: the cursor that is given then leads to FeedResync. */
  readonly onLiveLogError: (error: unknown) => void;
}

function listName(userId: UserId): string {
  return `feed:${userId}`;
}

/**
 * A page of the reader's own feed: skeleton from the feed store, while the reader is looked up, then actions in one batch,
 * then the rules. The numbers of entries and of unread ones come from the same read. Two round trips as long as the rules leave no gaps; three where only what is unread is asked for, or
 * the feed was rebuilt lately.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function readFeed(
  dependencies: FeedListDependencies & RankingDependencies & LiveCursorDependencies,
  session: ReaderSession,
  args: PageArgs & {
    readonly filter?: FeedFilter | null | undefined;
    readonly order?: FeedOrder | null | undefined;
    /** The number of unread entries will be asked for: then it comes with the same read. */
    readonly withUnread?: boolean | undefined;
    /** The place in the live log before the read will be asked for. */
    readonly withLiveCursor?: boolean | undefined;
  },
): Promise<FeedPage> {
  const size = pageSize(args.first);
  const order = args.order ?? 'RELEVANCY';
  const filter = checkFeedFilter(args.filter);
  const userId = session.identity.userId;
  const after = args.after ?? null;
  const liveCursor = args.withLiveCursor === true ? await liveCursorOf(dependencies, userId) : null;
  const list = openFeedList(dependencies, session, { filter, order });
  const scan = new FeedScan({ ...list, withUnread: args.withUnread ?? false });
  const page = await readInOrder(dependencies, order, {
    userId,
    size,
    after,
    scan: (from, limit) => scan.scan(from, limit),
    select: (candidates) => scan.select(candidates),
  });
  const nodes = page.edges.map(({ node }) => node);
  return {
    ...page,
    liveCursor,
    state: (await list.lookUp()).isRebuilding ? 'REBUILDING' : 'READY',
    countTotal: () => scan.countTotal(nodes),
    countUnread: () => scan.countUnread(nodes),
  };
}

/** Not a cursor of any log: who resumes there gets FeedResync. */
const NOWHERE = 'unknown';

/** Taken before the read: what is written after it is either in the page or comes after the cursor. */
async function liveCursorOf(
  { liveLog, onLiveLogError }: LiveCursorDependencies,
  userId: UserId,
): Promise<string> {
  try {
    return await liveLog.position(userId);
  } catch (error) {
    onLiveLogError(error);
    return NOWHERE;
  }
}

function readInOrder(
  dependencies: RankingDependencies,
  order: FeedOrder,
  options: OrderedPage,
): Promise<Page<NewsfeedItem>> {
  if (order === 'TOP') return readTop(dependencies, options);
  return order === 'RECENT' ? readRecent(options) : readRelevant(options);
}

function readRelevant(options: OrderedPage): Promise<Page<NewsfeedItem>> {
  const list = listName(options.userId);
  const cursor = options.after === null ? null : decodePosition(list, options.after);
  const asOf = cursor?.asOf ?? clock.now();
  return collectPage<FeedPosition, FeedEntry, NewsfeedItem>({
    size: options.size,
    after: cursor === null ? null : { relevancy: cursor.time, actionId: cursor.actionId },
    scan: options.scan,
    select: options.select,
    cursorOf: (item) => relevancyCursor(options.userId, item, asOf),
  });
}

/** The cursor of a position in the order of relevancy. */
export function relevancyCursor(userId: UserId, { relevancy, actionId }: FeedPosition, asOf: Date): string {
  return encodePosition(listName(userId), { time: relevancy, actionId, asOf });
}

/**
 * How many items are unread, by the same rules as the list. Reads at most a hundred and one visible items, and those that
 * were marked as read one by one.
 */
export async function countUnread(
  dependencies: ReadFeedDependencies,
  session: ReaderSession,
): Promise<UnreadCount> {
  const unread = unreadEntries(dependencies, await session.profile());
  const { edges, hasNextPage } = await collectPage<FeedPosition, FeedEntry, NewsfeedItem>({
    size: MAX_UNREAD,
    after: null,
    scan: (after, limit) =>
      unread.page({
        limit,
        ...(after === null ? {} : { after }),
      }),
    select: (candidates) => presentUnread(session, candidates),
    cursorOf: () => '',
  });
  return { count: edges.length, isExact: !hasNextPage };
}

/** The reader's own entry for one action, after the rules. */
export async function getNewsfeedItem(
  { feedReader }: ReadFeedDependencies,
  session: ReaderSession,
  actionId: ActionId,
): Promise<NewsfeedItem | null> {
  const profile = await session.profile();
  const [entry = null] = await feedReader.find(profile, [actionId]);
  const facts = await hydrateOne(session, actionId, entry);
  if (facts === null) return null;
  const state = facts.mark?.state ?? null;
  // What is archived or snoozed is not in the feed, and has its list all the same.
  return presentEntry(profile, facts, state === 'HIDDEN' ? null : state);
}

/** Those of the entries that are unread and that the reader may be shown, as they are shown. */
export function presentUnread(
  session: ReaderSession,
  entries: readonly FeedEntry[],
): Promise<NewsfeedItem[]> {
  return present(session, entries, UNREAD);
}

const UNREAD = checkFeedFilter({ unreadOnly: true });
