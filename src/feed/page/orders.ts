import type { ListOrder, Page } from '../../core/shapes.ts';
import { decodePosition, encodePosition } from '../../domain/cursor.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { FeedOrderRow, OrderedPage, TimeRange } from './declared.ts';
import type { ConductedEntry, ConductedPosition } from '../source.ts';
import { MAX_MISSED } from '../extent.ts';
import { type AskedPage, askedPage, collectPage, pageOf } from './paging.ts';

/** A page of a feed in its own order. @throws FanfareError BAD_USER_INPUT, BAD_CURSOR */
function readRelevant({ list, args, first, ...of }: OrderedPage): Promise<Page<NewsfeedItem>> {
  const page = askedPage(args, (cursor) => {
    const { time, actionId } = decodePosition(listName(list), cursor);
    return { relevancy: time, actionId };
  });
  const make = (): Promise<Page<NewsfeedItem>> =>
    collectPage<FeedPosition, FeedEntry, NewsfeedItem>({
      ...{ ...of, page },
      cursorOf: (item) => relevancyCursor(list, item),
      cursorAt: (stop) => relevancyCursor(list, stop),
    });
  return first(page, '', page.size + 1, make);
}

/** Cursor of a position in relevancy order. @param list of `OrderedPage` */
export function relevancyCursor(list: string, { relevancy, actionId }: FeedPosition): string {
  return encodePosition(listName(list), { time: relevancy, actionId });
}

function listName(list: string): string {
  return `feed:${list}`;
}

/** The same of other orders. */
export function listInOrder(order: ListOrder, list: string): string {
  return listName(`${order}:${list}`);
}

/** Entries that the order RECENT reads at once, and how many for each item of a first page at first. */
const CHUNK = 250;
const FIRST_CHUNK = 5;
/** And at most, where few are shown. */
const MOST_CHUNK = 500;

/**
 * A page of a feed ordered by `conducted`. The stored feed is ordered by relevancy, and a relevancy is at most MAX_FUTURE_MS
 * below `conducted`. So an item is final once everything not yet examined is older: of most first pages all are after one read. Other
 * pages are read from the actions in their own order. Upwards, as for lists that are read whole, everything down to the end of the page
 * is examined, which costs two round trips per 250 entries.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
async function readRecent(options: OrderedPage): Promise<Page<NewsfeedItem>> {
  const list = listInOrder('RECENT', options.list);
  const page = askedPage(options.args, (cursor) => decodePosition(list, cursor));
  const found = await options.first(page, '', firstChunk(page.size), async () => {
    const { nodes, stop } = await collectRecent(options, page);
    const edges = nodes.slice(0, page.size).map((node) => ({
      node,
      cursor: encodePosition(list, { time: node.action.conducted, actionId: node.actionId }),
    }));
    const hasMore = nodes.length > page.size;
    const shown = pageOf(edges, { isUp: page.isUp, hasMore: hasMore || stop !== null });
    return hasMore || stop === null ? shown : { ...shown, end: encodePosition(list, stop) };
  });
  // Counts of the response stop where its page did.
  if (found.hasMore && found.edges.length < page.size && found.end !== null) {
    const { time, actionId } = decodePosition(list, found.end);
    options.extent?.stopAt({ relevancy: time, actionId });
  }
  return found;
}

function firstChunk(size: number): number {
  return Math.min(CHUNK, FIRST_CHUNK * (size + 1));
}

interface RecentItems {
  /** The nearest first, and one more than the page has if there is one. */
  readonly nodes: readonly NewsfeedItem[];
  /** Where the page has to go on, since few of many passed; `null`: it was not cut. */
  readonly stop: ConductedPosition | null;
}

/**
 * The next items from a position on.
 * @param newest no item above this position
 */
export async function collectRecent(
  options: RecentScans,
  page: AskedPage<ConductedPosition>,
  newest: ConductedPosition | null = null,
): Promise<RecentItems> {
  const { scan, select, scanConducted, extent } = options;
  const { size, isUp, from } = page;
  if (!isUp && scanConducted !== undefined) {
    const top = from === null ? await topmostRecent(options, size) : null;
    if (top !== null) return top;
    const nodes: NewsfeedItem[] = [];
    const { edges, hasMore } = await collectPage<ConductedPosition, ConductedAt, NewsfeedItem>({
      ...{ page: { ...page, size: size + 1 }, extent, missed: extent?.looked },
      scan: async (stretch) =>
        (await scanConducted(stretch)).map((entry) => ({ ...entry, time: entry.conducted })),
      select: (entries) => select(entries),
      cursorOf: () => '',
    });
    nodes.push(...edges.map(({ node }) => node));
    const stop = hasMore && nodes.length <= size ? (extent?.stop ?? null) : null;
    return { nodes, stop: stop && { time: stop.relevancy, actionId: stop.actionId } };
  }
  const order = isUp ? (a: NewsfeedItem, b: NewsfeedItem) => compareRecency(b, a) : compareRecency;
  let best: NewsfeedItem[] = [];
  let position: FeedPosition | null = null;
  let chunk = from === null && !isUp ? firstChunk(size) : CHUNK;
  for (;;) {
    const entries: readonly FeedEntry[] = await scan({ from: position, limit: chunk, isUp: false });
    const items = await select(entries);
    const further = items.filter(
      (item) =>
        (from === null || (isUp ? isNewer(item, from) : isOlder(item, from))) &&
        (newest === null || isOlder(item, newest)),
    );
    best = [...best, ...further].sort(order).slice(0, size + 1);
    position = entries.at(-1) ?? position;
    if (entries.length < chunk || position === null) return { nodes: best, stop: null };
    const end = isUp ? from?.time.getTime() : best[size] && conducted(best[size]);
    if (end !== undefined && end > position.relevancy.getTime() + MAX_FUTURE_MS)
      return { nodes: best, stop: null };
    chunk = CHUNK;
  }
}

type RecentScans = Pick<
  OrderedPage,
  'scan' | 'select' | 'scanConducted' | 'scanAhead' | 'isUnfiltered' | 'extent'
>;

type ConductedAt = ConductedEntry & ConductedPosition;

/**
 * The first page by the first entries by relevancy. Of what was not looked at, only what was conducted ahead of the clock can be above the
 * lowest of them, and that is looked up if it can decide. `null`: the order of `conducted` is another one.
 */
async function topmostRecent(
  { scan, select, scanAhead, isUnfiltered }: RecentScans,
  size: number,
): Promise<RecentItems | null> {
  const entries: FeedEntry[] = [];
  const items: NewsfeedItem[] = [];
  const pageAbove = (time: number): NewsfeedItem[] =>
    items.filter((item) => conducted(item) > time).slice(0, size + 1);
  for (let limit = firstChunk(size), missed = 0; ; limit = Math.min(MOST_CHUNK, size + MAX_MISSED - missed)) {
    const next = await scan({ from: entries.at(-1) ?? null, limit, isUp: false });
    entries.push(...next);
    items.push(...(await select(next)));
    items.sort(compareRecency);
    const lowest = entries.at(-1);
    if (next.length < limit || lowest === undefined) return { nodes: items.slice(0, size + 1), stop: null };
    const end = lowest.relevancy.getTime();
    missed = entries.length - items.length;
    const isSpent = missed >= MAX_MISSED;
    const certain = pageAbove(end + MAX_FUTURE_MS);
    if (certain.length > size) return { nodes: certain, stop: null };
    // Of a page that stops early, what is so near to its end is left for the next one.
    if (isSpent && end + MAX_FUTURE_MS < (entries[0]?.relevancy.getTime() ?? 0))
      return { nodes: certain, stop: stopAbove(end + MAX_FUTURE_MS) };
    const near = pageAbove(end);
    if (near.length <= size && !isSpent && items.length <= size && (await isUnfiltered())) continue;
    if (near.length <= size && !isSpent) return null;
    const since = new Date(near[size] === undefined ? end + 1 : conducted(near[size]));
    const ahead = await scanAhead?.({ recordedBy: lowest.relevancy, since });
    if (ahead == null) return null;
    const known = new Set(entries.map(({ actionId }) => actionId));
    items.push(...(await select(ahead.filter(({ actionId }) => !known.has(actionId)))));
    items.sort(compareRecency);
    const nodes = pageAbove(end);
    return { nodes, stop: nodes.length > size ? null : stopAbove(end) };
  }
}

/** Above all that was conducted by then. */
function stopAbove(time: number): ConductedPosition {
  return { time: new Date(time + 1), actionId: LOWEST_ID };
}

const LOWEST_ID = '0'.repeat(24);

function conducted(item: NewsfeedItem): number {
  return item.action.conducted.getTime();
}

function compareRecency(a: NewsfeedItem, b: NewsfeedItem): number {
  return conducted(b) - conducted(a) || (a.actionId < b.actionId ? 1 : -1);
}

function isOlder(item: NewsfeedItem, cursor: ConductedPosition): boolean {
  const time = cursor.time.getTime();
  return conducted(item) < time || (conducted(item) === time && item.actionId < cursor.actionId);
}

function isNewer(item: NewsfeedItem, cursor: ConductedPosition): boolean {
  return !isOlder(item, cursor) && item.actionId !== cursor.actionId;
}

/** Times of a filter are relevancies. */
export const BY_RELEVANCY = {
  timeOf: ({ relevancy }: NewsfeedItem) => relevancy,
  range: (times: TimeRange) => times,
};

export const RELEVANCY: FeedOrderRow = {
  ...{ name: 'RELEVANCY', description: 'By relevancy for the reader, highest first.', ...BY_RELEVANCY },
  goesOn: true,
  read: (_core, page) => readRelevant(page),
};

/** Times of a filter are those of `conducted`. */
export const BY_CONDUCTED = {
  timeOf: ({ action }: NewsfeedItem) => action.conducted,
  conductedRange: (times: TimeRange) => times,
  // A relevancy is at most so much below `conducted`, and has no upper bound because of bumps.
  range: ({ since }: TimeRange) =>
    since === undefined ? {} : { since: new Date(since.getTime() - MAX_FUTURE_MS) },
};

export const RECENT: FeedOrderRow = {
  ...{ name: 'RECENT', description: 'Newest first, by `conducted`.', ...BY_CONDUCTED },
  read: (_core, page) => readRecent(page),
};
