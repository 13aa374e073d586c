import { decodePosition, encodePosition } from '../../domain/cursor.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { OrderedPage } from './ordered-page.ts';
import type { Page } from '../shapes.ts';
import { clock } from '../../lib/clock.ts';

const CHUNK = 250;

/**
 * A page of a feed ordered by `conducted`. The stored feed is ordered by relevancy, and a relevancy is at most MAX_FUTURE_MS
 * below `conducted`. So an item is final once everything not yet examined is older. Costs two round trips per 250 entries
 * down to the end of the page; bumped items are the ones examined in addition.
 * @throws FanfareError BAD_CURSOR
 */
export async function readRecent(options: OrderedPage): Promise<Page<NewsfeedItem>> {
  const { size } = options;
  const list = `feed:RECENT:${options.userId}`;
  const cursor = options.after === null ? null : decodePosition(list, options.after);
  const asOf = cursor?.asOf ?? clock.now();
  const nodes = await collectRecent({ ...options, behind: cursor });
  const edges = nodes.slice(0, size).map((node) => ({
    node,
    cursor: encodePosition(list, { time: node.action.conducted, actionId: node.actionId, asOf }),
  }));
  return { edges, hasNextPage: nodes.length > size, endCursor: edges.at(-1)?.cursor ?? null };
}

/** The next items after a position, newest first, plus one more than `size` if there is one. */
export async function collectRecent(
  options: Pick<OrderedPage, 'size' | 'scan' | 'select'> & { readonly behind: RecentPosition | null },
): Promise<readonly NewsfeedItem[]> {
  const { size, behind, scan, select } = options;
  let best: NewsfeedItem[] = [];
  let position: FeedPosition | null = null;
  for (;;) {
    const entries: readonly FeedEntry[] = await scan(position, CHUNK);
    const items = await select(entries);
    const further = items.filter((item) => behind === null || isBehind(item, behind));
    best = [...best, ...further].sort(compareRecency).slice(0, size + 1);
    position = entries.at(-1) ?? position;
    const last = best[size];
    if (entries.length < CHUNK || position === null) return best;
    if (last !== undefined && conducted(last) > position.relevancy.getTime() + MAX_FUTURE_MS) return best;
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

function isBehind(item: NewsfeedItem, cursor: RecentPosition): boolean {
  const time = cursor.time.getTime();
  return conducted(item) < time || (conducted(item) === time && item.actionId < cursor.actionId);
}
