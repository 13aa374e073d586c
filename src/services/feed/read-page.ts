import type { Core } from '../core.ts';
import { decodePosition, encodePosition } from '../../domain/cursor.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { UserId } from '../../domain/action.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { once } from '../../lib/once.ts';
import { Turn } from '../../lib/turn.ts';
import { beginPage, beginReading, type BegunPage } from '../session/begin-reading.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { FeedFilter, FeedOrder, FeedPage, Page, PageArgs } from '../shapes.ts';
import { isAboveRead, passRules, toItem } from './feed-rules.ts';
import { FeedScan, type ScanStages } from './feed-scan.ts';
import {
  actionConditions,
  checkFeedFilter,
  listedState,
  passesFeedFilter,
  type CheckedFeedFilter,
} from './filters.ts';
import { hydrateEntries } from './hydration.ts';
import { liveCursorOf } from './live-cursor.ts';
import type { OrderedPage } from './ordered-page.ts';
import { collectPage, pageSize } from './paging.ts';
import { readRecent } from './read-recent.ts';
import { readTop } from './read-top.ts';
import { entriesAfter, entriesInState } from './state-entries.ts';
import { unreadEntries } from './unread-entries.ts';

/**
 * A page of the reader's feed, or of their items in one state. Works in four stages, in this order below:
 *
 * 1. **Skeleton**: entries with their positions from the feed store, while the reader's profile is loaded.
 * 2. **Hydration**: the actions in one batch, and facts that only some readers have.
 * 3. **Rules**: which entries the reader may see, decided from the actions' current state.
 * 4. **Presentation**: the items that pass the filter.
 *
 * The stages repeat while the rules leave gaps in the page. Total and unread counts come from the same read. Two round trips
 * without gaps; three for unread items only, or when the feed was rebuilt recently.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function readFeed(
  core: Core,
  session: ReaderSession,
  args: PageArgs & {
    readonly filter?: FeedFilter | null | undefined;
    readonly order?: FeedOrder | null | undefined;
    /** The unread count is needed: read it together with the page. */
    readonly withUnread?: boolean | undefined;
    /** The live log position before the read is needed. */
    readonly withLiveCursor?: boolean | undefined;
  },
): Promise<FeedPage> {
  const size = pageSize(args.first);
  const order = args.order ?? 'RELEVANCY';
  const filter = checkFeedFilter(args.filter);
  const { userId } = session.identity;
  const liveCursor = args.withLiveCursor === true ? await liveCursorOf(core, userId) : null;
  const stages = openStages(core, session, { filter, order });
  const scan = new FeedScan({ ...stages, withUnread: args.withUnread ?? false });
  const page = await readInOrder(core, order, {
    userId,
    size,
    after: args.after ?? null,
    scan: (from, limit) => scan.scan(from, limit),
    select: (candidates) => scan.select(candidates),
  });
  const nodes = page.edges.map(({ node }) => node);
  return {
    ...page,
    liveCursor,
    state: (await stages.lookUp()).isRebuilding ? 'REBUILDING' : 'READY',
    countTotal: () => scan.countTotal(nodes),
    countUnread: () => scan.countUnread(nodes),
  };
}

function readInOrder(core: Core, order: FeedOrder, options: OrderedPage): Promise<Page<NewsfeedItem>> {
  if (order === 'TOP') return readTop(core, options);
  return order === 'RECENT' ? readRecent(options) : readRelevant(options);
}

function readRelevant(options: OrderedPage): Promise<Page<NewsfeedItem>> {
  const cursor = options.after === null ? null : decodePosition(listName(options.userId), options.after);
  const asOf = cursor?.asOf ?? clock.now();
  return collectPage<FeedPosition, FeedEntry, NewsfeedItem>({
    size: options.size,
    after: cursor === null ? null : { relevancy: cursor.time, actionId: cursor.actionId },
    scan: options.scan,
    select: options.select,
    cursorOf: (item) => relevancyCursor(options.userId, item, asOf),
  });
}

/** Cursor of a position in relevancy order. */
export function relevancyCursor(userId: UserId, { relevancy, actionId }: FeedPosition, asOf: Date): string {
  return encodePosition(listName(userId), { time: relevancy, actionId, asOf });
}

function listName(userId: UserId): string {
  return `feed:${userId}`;
}

/** Stages of one read. They share one profile of the reader. */
export interface PageStages extends ScanStages {
  /** The reader's profile, loaded once, together with the first entries. */
  readonly lookUp: () => Promise<ReaderProfile>;
}

export function openStages(
  core: Core,
  session: ReaderSession,
  { filter, order }: { readonly filter: CheckedFeedFilter; readonly order: FeedOrder },
): PageStages {
  const { feedReader } = core;
  const range = rangeOf(filter, order);
  const state = listedState(filter);
  let begun: Promise<ReaderProfile> | undefined;
  const lookUp = (): Promise<ReaderProfile> => (begun ??= beginReading(core, session));
  const unread = once(async () => unreadEntries(core, await lookUp()));
  const listed = once(async () => (state === null ? null : entriesInState(core, await lookUp(), state)));
  return {
    lookUp,
    async scan(from, limit) {
      const list = state === null ? null : await listed();
      if (list !== null) return entriesAfter(list, from, limit);
      const query = { limit, ...(from === null ? {} : { after: from }), ...range };
      if (filter.unreadOnly) return (await unread()).page(query);
      let first: BegunPage | undefined;
      if (begun === undefined) {
        first = beginPage(core, session, query);
        begun = first.reader;
      }
      return feedReader.page(await begun, query, first?.ahead);
    },
    select: async (entries) =>
      showEntries(session, lookUp, await narrowed(core, filter, entries), { filter, order }),
    isAboveRead: async (entry) => isAboveRead(await lookUp(), entry),
    unreadBelow: async () => (await unread()).below(await listed()),
  };
}

/**
 * Relevancy bounds that contain everything the filter lets through. In the order RECENT, the filter's times refer to
 * `conducted`. A relevancy is at most MAX_FUTURE_MS below `conducted`, and has no upper bound because of bumps.
 */
function rangeOf(
  { since, until }: CheckedFeedFilter,
  order: FeedOrder,
): { readonly since?: Date; readonly until?: Date } {
  if (order === 'RECENT') return since === null ? {} : { since: new Date(since.getTime() - MAX_FUTURE_MS) };
  return { ...(since === null ? {} : { since }), ...(until === null ? {} : { until }) };
}

/** One round trip that selects matching entries, so that only those are loaded in full, however selective the filter. */
async function narrowed(
  { actions }: Core,
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

/** Hydration, rules and presentation for entries of the skeleton. */
export async function showEntries(
  session: ReaderSession,
  lookUp: () => Promise<ReaderProfile>,
  entries: readonly FeedEntry[],
  { filter, order }: { readonly filter: CheckedFeedFilter; readonly order: FeedOrder },
): Promise<NewsfeedItem[]> {
  const hydrated = await hydrateEntries(session, lookUp, entries);
  const reader = await lookUp();
  const state = listedState(filter);
  const items: NewsfeedItem[] = [];
  const turn = new Turn();
  for (const facts of hydrated) {
    // Matching muted phrases in long texts takes time.
    if (turn.isOver()) await turn.next();
    const visible = passRules(reader, facts, state);
    if (visible === null) continue;
    const item = toItem(reader, visible, state);
    if (passesFeedFilter(filter, item, order)) items.push(item);
  }
  return items;
}
