import type { Core } from '../../core/core.ts';
import { isNeverWanted, type WantedActions } from '../../storage/actions/action-document.ts';
import { hydrate, marksOf } from './hydration.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import {
  compareFeedPositions,
  type FeedEntry,
  type FeedPosition,
  type NewsfeedItem,
} from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { FeedOrder, FeedPage, ListOrder, PageArgs } from '../../core/shapes.ts';
import { once } from '../../lib/once.ts';
import { eachInTurns } from '../../lib/turn.ts';
import { Extent } from '../extent.ts';
import { isAboveAll, isInRange, type FeedQuery } from '../feed-store.ts';
import type { ConductedEntry, ConductedPosition } from '../source.ts';
import { badInput } from '../../domain/errors.ts';
import { type AskedList, checkAskedList, readerOf } from './views.ts';
import { beginReading } from '../session/begin-reading.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { isAboveRead, passRules, toItem } from './feed-rules.ts';
import {
  type CheckedFeedFilter,
  entriesFor,
  learnForFilter,
  mostFor,
  NO_FILTER,
  passesFeedFilter,
  wantedOf,
} from './filters.ts';
import { type Begun, ListRead } from './list-read.ts';
import { FeedList, type FeedStages } from './list.ts';
import { DECLARED, type FeedView, type OrderedPage, type TimeRange } from './declared.ts';
import type { AheadTimes } from '../feed-reader.ts';
import { isRankedCursor } from '../../domain/cursor.ts';
import { asOffered } from './offered.ts';
import { listInOrder } from './orders.ts';
import { entriesAbove } from './upward.ts';
import type { Stretch } from '../../storage/documents/keyset.ts';

/**
 * A page of the reader's feed, or of their items in one state. See `openStages` for its stages.
 *
 * The stages repeat while the rules leave gaps in the page. Total and unread counts come from the same read. Two round trips
 * without gaps; three for unread items only, or when the feed was rebuilt recently.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function readFeed(
  core: Core,
  session: ReaderSession,
  args: PageArgs &
    CountsAsked &
    AskedList & {
      /** The order of the feed; a view has its own. Default: RELEVANCY. */
      readonly order?: FeedOrder | null | undefined;
      /** The live log position before the read is needed. */
      readonly withLiveCursor?: boolean | undefined;
    },
): Promise<FeedPage> {
  const { userId } = session.identity;
  const checked = checkAskedList(userId, args);
  core.onFeedRead(labelOf(checked.view));
  const cursor = args.after ?? args.before ?? null;
  const filter = await asOffered(core, userId, checked, () =>
    cursor === null ? null : isRankedCursor(listInOrder('SOURCE', nameOfList(userId, checked)), cursor),
  );
  const { view } = filter;
  if (view !== null && view.order !== null && args.order != null)
    throw badInput(`The view ${view.name} has an order of its own: ask for it without one`, ['order']);
  const order: ListOrder = view?.order ?? args.order ?? 'RELEVANCY';
  const liveCursor = args.withLiveCursor === true ? await liveCursorOf(core, userId) : null;
  const read = new ListRead(core, session, JSON.stringify([filter.key, order]));
  const stages = openStages(read, { filter, order });
  const list = new FeedList({ ...stages, read, withUnread: args.withUnread, withTotal: args.withTotal });
  const page = await DECLARED.order(order).read(core, {
    userId,
    view,
    lookUp: stages.lookUp,
    list: nameOfList(userId, filter),
    args,
    first: ({ size, isUp, from }, what, limit, make) =>
      from === null && !isUp ? list.first(`${what} ${String(size)}`, limit, make) : make(),
    scan: (stretch) => list.scan(stretch),
    select: (candidates) => list.select(candidates),
    extent: stages.extent,
    scanConducted: stages.scanConducted,
    scanAhead: stages.scanAhead,
    isUnfiltered: stages.isUnfiltered,
  });
  const nodes = page.edges.map(({ node }) => node);
  return {
    ...page,
    liveCursor,
    state: (await stages.lookUp()).isRebuilding ? 'REBUILDING' : 'READY',
    countTotal: () => list.countTotal(nodes),
    countUnread: () => list.countUnread(nodes),
  };
}

/** What metrics call a view. No name of one has brackets. */
export function labelOf(view: FeedView | null): string {
  if (view === null) return '(feed)';
  return view.listId === undefined ? view.name : '(list)';
}

/** Counts that are needed: what they need is read together with the page. */
export interface CountsAsked {
  readonly withUnread?: boolean | undefined;
  readonly withTotal?: boolean | undefined;
}

/** Not a valid log position: a client that resumes from it gets FeedResync. */
const NOWHERE = 'unknown';

/** Taken before a page is read: later changes are in the page or come after the cursor, possibly both. */
export async function liveCursorOf({ liveLog, onLiveLogError }: Core, userId: UserId): Promise<string> {
  try {
    return await liveLog.position(userId);
  } catch (error) {
    onLiveLogError(error);
    return NOWHERE;
  }
}

/** Tells cursors of a reader's lists apart. */
export function nameOfList(userId: UserId, { view }: CheckedFeedFilter): string {
  return view === null ? userId : JSON.stringify([userId, view.name]);
}

/** One read of a feed in stages, which share one profile of the reader. */
export interface PageStages extends FeedStages, Pick<OrderedPage, 'scanAhead' | 'isUnfiltered'> {
  /** The reader's profile, loaded once, together with the first entries. */
  readonly lookUp: () => Promise<ReaderProfile>;
  /** The first entries that may be unread, of a filter for unread items in the order RELEVANCY. */
  readonly unread: (limit: number) => Promise<readonly FeedEntry[]>;
}

export function openStages(read: ListRead, list: ListAsked): PageStages {
  const { core, session } = read;
  const { filter } = list;
  const range = timesOf(list, 'range');
  const most = mostFor(filter);
  const isListed = entriesFor(filter) !== null || most !== null;
  const extent = new Extent();
  // A list that is read whole has an end.
  const goesOn = DECLARED.order(list.order).goesOn === true && most === null;
  let begun: Promise<ReaderProfile> | undefined;
  let top: Begun | null | undefined;
  const asRead = async (reader: Promise<ReaderProfile>): Promise<ReaderProfile> =>
    readerOf(await reader, filter);
  const lookUp = (): Promise<ReaderProfile> => (begun ??= asRead(beginReading(core, session)));
  const begin = (query: FeedQuery): Begun | null => {
    if (begun !== undefined || isListed || filter.unreadOnly) return null;
    const { reader, ...page } = read.begin(query);
    begun = filter.view === null ? reader : asRead(reader);
    return page;
  };
  const open = (limit: number): Begun | null => {
    if (top !== undefined) return top;
    return (top = begin({ limit, ...range }));
  };
  const wantedOnce = once(async () => wantedOf(filter, await lookUp()));
  const unread = once(async () => unreadEntries(read, await lookUp(), filter));
  const whole = isListed ? readWhole(read, list, lookUp) : null;
  const listed = async (): Promise<readonly FeedEntry[] | null> => (await whole?.entries()) ?? null;
  /** @param first what was begun of it; `null`: nothing */
  const next = async (
    first: Begun | null,
    query: FeedQuery,
    to: Extent | undefined,
  ): Promise<readonly FeedEntry[]> => {
    const [reader, wanted] = [await lookUp(), await wantedOnce()];
    const among = { ...(wanted && { wanted }), ...(to && { extent: to }) };
    if (first === null || first.query.limit < query.limit)
      return core.feedReader.page(reader, { ...query, ...among });
    const page = await read.page(reader, { ...first, query: { ...first.query, ...among } });
    return page.slice(0, query.limit);
  };
  const scan = async (stretch: Stretch<FeedPosition>): Promise<readonly FeedEntry[]> => {
    const { from, isUp, limit } = stretch;
    const query = { limit, ...(from === null ? {} : { after: from }), ...range };
    const first = isUp ? null : from === null ? open(limit) : begin(query);
    const entries = await listed();
    if (entries !== null) return entriesFrom(entries, stretch);
    if (filter.unreadOnly) {
      const { page, kept } = await unread();
      return isUp ? entriesAbove(page, query) : goesOn ? kept(query, extent) : page(query);
    }
    if (isUp) return entriesAbove((part) => next(begin(part), part, undefined), query);
    return next(first, query, goesOn ? extent : undefined);
  };
  const scanConducted = ({ from, limit }: Stretch<ConductedPosition>): Promise<readonly ConductedEntry[]> =>
    extent.scan(from && { relevancy: from.time, actionId: from.actionId }, async () => {
      const [reader, wanted] = [await lookUp(), await wantedOnce()];
      const among = { ...timesOf(list, 'conductedRange'), ...(wanted && { wanted }) };
      return core.feedReader.conducted(reader, { after: from, limit, extent, ...among });
    });
  const scanAhead = async (times: AheadTimes): Promise<readonly FeedEntry[] | null> =>
    core.feedReader.ahead(await lookUp(), times);
  return {
    lookUp,
    open,
    extent,
    skeleton: (stretch) =>
      stretch.isUp || !goesOn ? scan(stretch) : extent.scan(stretch.from, () => scan(stretch)),
    ...(!isListed && !filter.unreadOnly && { scanConducted, scanAhead }),
    isUnfiltered: async () => (await wantedOnce()) === null,
    isCut: () => whole?.isCut() === true,
    async isLonger() {
      if (isListed || filter.unreadOnly) return false;
      const { floor } = await lookUp();
      if (floor === null || isAboveAll(floor)) return false;
      return range.since === undefined || floor.relevancy.getTime() >= range.since.getTime();
    },
    async show(entries) {
      const items = await show(
        session,
        lookUp,
        await narrowed(read, { reader: await lookUp(), wanted: await wantedOnce(), filter }, entries),
        list,
      );
      if (most === null) extent.missed(entries.length - items.length);
      return items;
    },
    isAboveRead: async (entry) => isAboveRead(await lookUp(), entry),
    unreadBelow: async (query) => (await unread()).below(await listed(), query),
    unread: async (limit) => (await listed())?.slice(0, limit) ?? (await unread()).page({ limit, ...range }),
  };
}

/** Entries of which all are read before a page is made: those that a filter knows to pass, or the first that it looks at. */
function readWhole(read: ListRead, list: ListAsked, lookUp: PageStages['lookUp']) {
  const { filter } = list;
  const most = mostFor(filter) ?? Infinity;
  let isCut = false;
  const entries = once(async () => {
    const reader = await lookUp();
    const all = await (entriesFor(filter)?.(read, reader) ??
      read.core.feedReader.page(reader, { limit: most + 1, ...timesOf(list, 'range') }));
    isCut = all.length > most;
    return all.slice(0, most);
  });
  return { entries, isCut: () => isCut };
}

/** Which of the reader's items are asked for, and in which order. */
interface ListAsked {
  readonly filter: CheckedFeedFilter;
  readonly order: ListOrder;
}

/** Hydration, rules and presentation: entries of the skeleton as the items that the reader is shown. */
export async function show(
  session: ReaderSession,
  lookUp: () => Promise<ReaderProfile>,
  entries: readonly FeedEntry[],
  { filter, order }: ListAsked,
): Promise<NewsfeedItem[]> {
  const hydrated = await hydrate(session, lookUp, entries);
  const reader = await lookUp();
  const { state } = filter;
  const visible = await passing(hydrated, (facts) => passRules(reader, facts, state));
  const items = visible.map((entry) => toItem(reader, entry, state));
  const known = await learnForFilter(session, filter, items);
  return passing(items, (item) => (passesFeedFilter(filter, item, known, order) ? item : null));
}

/** What is left of values. Matching phrases in long texts takes time, so other work gets its turn. */
async function passing<T, R>(values: readonly T[], pass: (value: T) => R | null): Promise<R[]> {
  const left: R[] = [];
  await eachInTurns(values, (value) => {
    const passed = pass(value);
    if (passed !== null) left.push(passed);
  });
  return left;
}

/** Bounds that contain everything the filter lets through. */
function timesOf(
  { filter: { since, until }, order }: ListAsked,
  which: 'range' | 'conductedRange',
): TimeRange {
  const times = { ...(since === null ? {} : { since }), ...(until === null ? {} : { until }) };
  return DECLARED.order(order)[which]?.(times) ?? {};
}

/**
 * Leaves out entries that cannot be shown by what is known of them at little cost, so that only few are loaded in full, however
 * selective the filter and the rules: by what the process knows of their actions and no edit changes; by the reader's marks; and with one
 * round trip that selects among actions that are not cached. None for entries whose actions are cached as they are.
 */
async function narrowed(
  { core, session }: ListRead,
  {
    reader,
    wanted,
    filter,
  }: { reader: ReaderProfile; wanted: WantedActions | null; filter: CheckedFeedFilter },
  entries: readonly FeedEntry[],
): Promise<readonly FeedEntry[]> {
  // Those with a revision are of the page itself, of which most are shown.
  const loose = entries.filter(({ rev }) => rev === undefined);
  const areMarked = reader.hasMarks && loose.length > 0;
  if (wanted === null && !areMarked) return entries;
  const isCached = ({ actionId, rev }: FeedEntry): boolean =>
    rev !== undefined && session.cached(actionId, rev) !== null;
  const unknown = entries.filter((entry) => !isCached(entry));
  // To load a few takes no more than to ask which of them to load.
  if (unknown.length <= FEW) return entries;
  const out = new Set<ActionId>();
  const left = (): FeedEntry[] => unknown.filter(({ actionId }) => !out.has(actionId));
  if (wanted !== null)
    for (const { actionId } of loose) {
      const action = core.actionCache.before(actionId);
      if (action !== null && isNeverWanted(wanted, action)) out.add(actionId);
    }
  if (areMarked) {
    // All marks in one read: the items that are shown need theirs anyway.
    const ids = entries.flatMap(({ actionId }) => (out.has(actionId) ? [] : actionId));
    const marks = await marksOf(session, reader, ids);
    for (const [index, id] of ids.entries()) if ((marks[index]?.state ?? null) !== filter.state) out.add(id);
  }
  if (wanted !== null) {
    const ids = left().map(({ actionId }) => actionId);
    const matching = ids.length === 0 ? NONE : await core.actions.matching(ids, wanted);
    for (const id of ids) if (!matching.has(id)) out.add(id);
  }
  return entries.filter(({ actionId }) => !out.has(actionId));
}

const NONE: ReadonlySet<ActionId> = new Set();
const FEW = 30;

/** The next of these entries, which are in feed order. */
function entriesFrom(
  entries: readonly FeedEntry[],
  { from, isUp, limit }: Stretch<FeedPosition>,
): readonly FeedEntry[] {
  const isNext = (entry: FeedEntry): boolean =>
    from === null || compareFeedPositions(from, entry) * (isUp ? -1 : 1) < 0;
  return (isUp ? entries.toReversed() : entries).filter(isNext).slice(0, limit);
}

/** Reads entries that may be unread: those above the read mark and, below it, those marked unread. */
interface UnreadEntries {
  /** In feed order. Fewer than the limit means the end, or that of the query's extent. */
  readonly page: (query: FeedQuery) => Promise<readonly FeedEntry[]>;
  /** The same without those above the mark that are in another state, so that no more of the others are read than are needed. */
  readonly kept: (query: FeedQuery, extent: Extent) => Promise<readonly FeedEntry[]>;
  /** The same of those above the mark alone. */
  readonly above: (query: FeedQuery) => Promise<readonly FeedEntry[]>;
  /** The next of those below the mark, in feed order. `list` null: of the feed. No query when there are none. */
  below(list: readonly FeedEntry[] | null, query: FeedQuery): Promise<readonly FeedEntry[]>;
}

export function unreadEntries(
  { core, session }: ListRead,
  reader: ReaderProfile,
  filter: CheckedFeedFilter = NO_FILTER,
): UnreadEntries {
  const wanted = wantedOf(filter, reader);
  const { lastRead, userId } = reader;
  const mayBeBelow = mayHaveUnreadBelow(reader);
  const marked = once(() => core.itemMarks.unread(userId));
  const above: UnreadEntries['above'] = (query) => {
    const since = newest(query.since ?? null, justAfter(lastRead));
    return core.feedReader.page(reader, {
      ...query,
      ...(wanted && { wanted }),
      ...(since === null ? {} : { since }),
    });
  };
  const ofFeed = once(async () => core.feedReader.among(reader, await marked()));
  const below: UnreadEntries['below'] = async (list, query) => {
    if (!mayBeBelow) return [];
    const until = earliest(query.until ?? null, justAfter(lastRead));
    const among = { ...query, ...(until === null ? {} : { until }) };
    if (list === null) return (await ofFeed()).page(among);
    const known = new Set(await marked());
    return list
      .filter((entry) => known.has(entry.actionId) && isInRange(entry, among))
      .sort(compareFeedPositions)
      .slice(0, query.limit);
  };
  const pageOf = async (query: FeedQuery, top: readonly FeedEntry[]): Promise<readonly FeedEntry[]> => {
    if (top.length === query.limit || (query.extent?.stop ?? null) !== null) return top;
    return [...top, ...(await below(null, { ...query, limit: query.limit - top.length }))];
  };
  return {
    ...{ above, below },
    page: async (query) => pageOf(query, await above(query)),
    async kept(query, extent) {
      const asked = { ...query, extent };
      const top = reader.hasMarks
        ? await inState(above, asked, async (entries) => {
            const marks = await marksOf(
              session,
              reader,
              entries.map(({ actionId }) => actionId),
            );
            return entries.filter((_entry, index) => (marks[index]?.state ?? null) === filter.state);
          })
        : await above(asked);
      return pageOf(asked, top);
    },
  };
}

/** Reads on as long as entries are left out. */
async function inState(
  above: UnreadEntries['above'],
  query: FeedQuery & { readonly extent: Extent },
  keep: (entries: readonly FeedEntry[]) => Promise<readonly FeedEntry[]>,
): Promise<readonly FeedEntry[]> {
  const { limit, extent } = query;
  const kept: FeedEntry[] = [];
  let { after } = query;
  for (let size = limit; ; size = Math.min(2 * size, limit + extent.room)) {
    const entries = await above({ ...query, limit: size, ...(after && { after }) });
    const left = await keep(entries);
    kept.push(...left);
    extent.missed(entries.length - left.length);
    after = entries.at(-1) ?? after;
    const isEnd = entries.length < size || extent.stop !== null;
    if (isEnd || kept.length >= limit) return kept.slice(0, limit);
    if (extent.isSpent && after !== undefined) {
      extent.stopAt(after);
      return kept;
    }
  }
}

/** Whether items below the read mark may be marked unread. */
export function mayHaveUnreadBelow({ lastRead, hasUnreadMarks }: ReaderProfile): boolean {
  return lastRead !== null && hasUnreadMarks;
}

function earliest(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a.getTime() < b.getTime() ? a : b;
}

function newest(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a.getTime() > b.getTime() ? a : b;
}

/** Relevancies are whole milliseconds, so everything after the mark starts one millisecond later. */
function justAfter(mark: Date | null): Date | null {
  return mark === null ? null : new Date(mark.getTime() + 1);
}
