import type { Page } from '../../core/shapes.ts';
import type { UserId } from '../../domain/action.ts';
import { decodePosition, encodePosition } from '../../domain/cursor.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { FeedOrderRow, OrderedPage, TimeRange } from './declared.ts';
import { type AskedPage, askedPage, collectPage, pageOf } from './paging.ts';

/** A page of a feed in its own order. @throws FanfareError BAD_USER_INPUT, BAD_CURSOR */
function readRelevant({ userId, args, first, ...list }: OrderedPage): Promise<Page<NewsfeedItem>> {
  const page = askedPage(args, (cursor) => {
    const { time, actionId } = decodePosition(listName(userId), cursor);
    return { relevancy: time, actionId };
  });
  const make = (): Promise<Page<NewsfeedItem>> =>
    collectPage<FeedPosition, FeedEntry, NewsfeedItem>({
      ...{ ...list, page },
      cursorOf: (item) => relevancyCursor(userId, item),
      cursorAt: (stop) => relevancyCursor(userId, stop),
    });
  return first(page, '', page.size + 1, make);
}

/** Cursor of a position in relevancy order. */
export function relevancyCursor(userId: UserId, { relevancy, actionId }: FeedPosition): string {
  return encodePosition(listName(userId), { time: relevancy, actionId });
}

function listName(userId: UserId): string {
  return `feed:${userId}`;
}

/** Entries that the order RECENT reads at once, and how many for each item of a first page at first. */
const CHUNK = 250;
const FIRST_CHUNK = 5;

/**
 * A page of a feed ordered by `conducted`. The stored feed is ordered by relevancy, and a relevancy is at most MAX_FUTURE_MS
 * below `conducted`. So an item is final once everything not yet examined is older. Costs two round trips per 250 entries
 * down to the end of the page, and reads fewer at first; bumped items are the ones examined in addition. A page upwards costs as
 * much as one down that ends at the same place.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
async function readRecent(options: OrderedPage): Promise<Page<NewsfeedItem>> {
  const list = `feed:RECENT:${options.userId}`;
  const page = askedPage(options.args, (cursor) => decodePosition(list, cursor));
  return options.first(page, '', firstChunk(page.size), async () => {
    const nodes = await collectRecent(options, page);
    const edges = nodes.slice(0, page.size).map((node) => ({
      node,
      cursor: encodePosition(list, { time: node.action.conducted, actionId: node.actionId }),
    }));
    return pageOf(edges, { isUp: page.isUp, hasMore: nodes.length > page.size });
  });
}

function firstChunk(size: number): number {
  return Math.min(CHUNK, FIRST_CHUNK * (size + 1));
}

/**
 * The next items from a position on, the nearest first, plus one more than `size` if there is one. Upwards what is nearest is known
 * once everything down to the position was read.
 * @param newest no item above this position
 */
export async function collectRecent(
  { scan, select }: Pick<OrderedPage, 'scan' | 'select'>,
  { size, isUp, from }: AskedPage<RecentPosition>,
  newest: RecentPosition | null = null,
): Promise<readonly NewsfeedItem[]> {
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
    if (entries.length < chunk || position === null) return best;
    const end = isUp ? from?.time.getTime() : best[size] && conducted(best[size]);
    if (end !== undefined && end > position.relevancy.getTime() + MAX_FUTURE_MS) return best;
    chunk = CHUNK;
  }
}

interface RecentPosition {
  readonly time: Date;
  readonly actionId: string;
}

function conducted(item: NewsfeedItem): number {
  return item.action.conducted.getTime();
}

function compareRecency(a: NewsfeedItem, b: NewsfeedItem): number {
  return conducted(b) - conducted(a) || (a.actionId < b.actionId ? 1 : -1);
}

function isOlder(item: NewsfeedItem, cursor: RecentPosition): boolean {
  const time = cursor.time.getTime();
  return conducted(item) < time || (conducted(item) === time && item.actionId < cursor.actionId);
}

function isNewer(item: NewsfeedItem, cursor: RecentPosition): boolean {
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

export const RECENT: FeedOrderRow = {
  ...{ name: 'RECENT', description: 'Newest first, by `conducted`.' },
  timeOf: ({ action }) => action.conducted,
  // A relevancy is at most so much below `conducted`, and has no upper bound because of bumps.
  range: ({ since }) => (since === undefined ? {} : { since: new Date(since.getTime() - MAX_FUTURE_MS) }),
  read: (_core, page) => readRecent(page),
};
