import { decodePosition, encodePosition } from '../../domain/cursor.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { FeedReader } from '../../feeds/feed-reader.ts';
import type { LiveLog } from '../../realtime/live-log.ts';
import type { ItemState } from '../../domain/item-mark.ts';
import type { ActionsRepository } from '../../storage/actions.ts';
import type { ItemMarksRepository } from '../../storage/item-marks.ts';
import { hydrateEntries, hydrateOne, isAboveRead, presentEntry } from './feed-rules.ts';
import { FeedScan, MAX_UNREAD } from './feed-scan.ts';
import {
  actionConditions,
  checkFeedFilter,
  listedState,
  passesFeedFilter,
  type CheckedFeedFilter,
} from './filters.ts';
import { entriesAfter, entriesInState } from './state-entries.ts';
import { unreadEntries, type UnreadEntries } from './unread-entries.ts';
import { collectPage, pageSize } from './paging.ts';
import { beginReading, type BeginReadingDependencies } from '../session/begin-reading.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { OrderedPage } from './ordered-page.ts';
import { readRecent } from './read-recent.ts';
import type { RankingDependencies } from './ranked-score.ts';
import { readTop } from './read-top.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { FeedFilter, FeedOrder, FeedPage, Page, PageArgs, UnreadCount } from '../services.ts';
import { clock } from '../../lib/clock.ts';

export interface ReadFeedDependencies {
  readonly feedReader: FeedReader;
  readonly itemMarks: Pick<ItemMarksRepository, 'unread' | 'list'>;
}

interface LiveCursorDependencies {
  readonly liveLog: Pick<LiveLog, 'position'>;
  /** The live log could not be reached: the cursor that is given then leads to FeedResync. */
  readonly onLiveLogError: (error: unknown) => void;
}

interface FilterDependencies {
  readonly actions: Pick<ActionsRepository, 'matching'>;
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
  dependencies: ReadFeedDependencies &
    FilterDependencies &
    RankingDependencies &
    BeginReadingDependencies &
    LiveCursorDependencies,
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
  const range = rangeOf(filter, order);
  const userId = session.identity.userId;
  const after = args.after ?? null;
  const liveCursor = args.withLiveCursor === true ? await liveCursorOf(dependencies, userId) : null;
  let looking: Promise<ReaderProfile> | undefined;
  const lookUp = (): Promise<ReaderProfile> => (looking ??= beginReading(dependencies, session));
  let reading: Promise<UnreadEntries> | undefined;
  const unread = (): Promise<UnreadEntries> =>
    (reading ??= lookUp().then((reader) => unreadEntries(dependencies, reader)));
  const state = listedState(filter);
  let listing: Promise<readonly FeedEntry[]> | undefined;
  const inState = (wanted: ItemState): Promise<readonly FeedEntry[]> =>
    (listing ??= lookUp().then((reader) => entriesInState(dependencies, reader, wanted)));
  const read = async (from: FeedPosition | null, limit: number): Promise<readonly FeedEntry[]> => {
    if (state !== null) return entriesAfter(await inState(state), from, limit);
    const query = {
      limit,
      ...(from === null ? {} : { after: from }),
      ...(range.since === null ? {} : { since: range.since }),
      ...(range.until === null ? {} : { until: range.until }),
    };
    if (filter.unreadOnly) return (await unread()).page(query);
    return looking === undefined
      ? dependencies.feedReader.pageFor(userId, lookUp, query)
      : dependencies.feedReader.page(await looking, query);
  };
  const scan = new FeedScan({
    scan: read,
    select: async (candidates) =>
      present(session, await narrowed(dependencies, filter, candidates), filter, order),
    isAboveRead: async (entry) => isAboveRead(await lookUp(), entry),
    unreadBelow: async () => (await unread()).below(state === null ? null : await inState(state)),
    withUnread: args.withUnread ?? false,
  });
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
    state: (await lookUp()).isRebuilding ? 'REBUILDING' : 'READY',
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

/**
 * The range of relevancies that holds what a filter lets through. In the order of time it is by when things were conducted,
 * which a relevancy is not below but by the little that may be ahead; bumps go up without a bound.
 */
function rangeOf(
  { since, until }: CheckedFeedFilter,
  order: FeedOrder,
): { readonly since: Date | null; readonly until: Date | null } {
  if (order !== 'RECENT') return { since, until };
  return { since: since === null ? null : new Date(since.getTime() - MAX_FUTURE_MS), until: null };
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
 * The entries whose actions a filter on them lets through, by one round trip that brings none of the others: however
 * selective the filter, only what is shown is loaded whole.
 */
async function narrowed(
  { actions }: FilterDependencies,
  filter: CheckedFeedFilter,
  entries: readonly FeedEntry[],
): Promise<readonly FeedEntry[]> {
  const conditions = actionConditions(filter);
  if (entries.length === 0 || Object.keys(conditions).length === 0) return entries;
  const matching = await actions.matching(
    entries.map((entry) => entry.actionId),
    conditions,
  );
  return entries.filter((entry) => matching.has(entry.actionId));
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
  // What is archived is not in the feed, and has its list all the same.
  return presentEntry(profile, facts, facts.mark?.state === 'ARCHIVED' ? 'ARCHIVED' : null);
}

/** Those of the entries that are unread and that the reader may be shown, as they are shown. */
export function presentUnread(
  session: ReaderSession,
  entries: readonly FeedEntry[],
): Promise<NewsfeedItem[]> {
  return present(session, entries, UNREAD);
}

const UNREAD = checkFeedFilter({ unreadOnly: true });

async function present(
  session: ReaderSession,
  entries: readonly FeedEntry[],
  filter: CheckedFeedFilter,
  order: FeedOrder = 'RELEVANCY',
): Promise<NewsfeedItem[]> {
  const profile = await session.profile();
  const hydrated = await hydrateEntries(session, entries);
  return hydrated.flatMap((facts) => {
    const item = presentEntry(profile, facts, listedState(filter));
    return item !== null && passesFeedFilter(filter, item, order) ? [item] : [];
  });
}
