import { compareFeedPositions, type FeedEntry } from '../../domain/newsfeed-item.ts';
import type { FeedQuery } from '../feed-store.ts';

/** Entries that are read at once. */
const MOST = 500;
/** A window is longer than the one below it by this factor. */
const GROWTH = 8;
/** Nothing happened before. */
const EARLIEST = Date.parse('0000-01-01T00:00:00Z');

/**
 * The entries above a position, the nearest first, of a feed that is only read downwards. Everything between the position and the
 * top if that is little, which takes one read. Otherwise windows of time that go up: the first as long as so many entries take at
 * the top, so one or two more reads; some twenty to find the end of a long feed.
 *
 * @param page reads down: the next entries in feed order. Fewer than its limit means the end.
 * @param query `after` is the position; absent: the end of the feed.
 */
export async function entriesAbove(
  page: (query: FeedQuery) => Promise<readonly FeedEntry[]>,
  { after, since, until, limit }: FeedQuery,
): Promise<FeedEntry[]> {
  const most = Math.max(MOST, limit);
  const end = until === undefined ? {} : { until };
  const times = [after?.relevancy, since].flatMap((time) => time?.getTime() ?? []);
  const bottom = times.length === 0 ? null : Math.max(...times);
  const above = (entries: readonly FeedEntry[]): FeedEntry[] =>
    entries.filter((entry) => after === undefined || compareFeedPositions(entry, after) < 0).reverse();

  const start = bottom === null ? {} : { since: new Date(bottom) };
  const top = await page({ limit: most, ...start, ...end });
  if (top.length < most) return above(top).slice(0, limit);

  const newest = top[0]?.relevancy.getTime() ?? 0;
  const span = newest - (top.at(-1)?.relevancy.getTime() ?? 0);
  const found: FeedEntry[] = [];
  let from = bottom ?? EARLIEST;
  let length = Math.max(1, bottom === null ? newest - from : Math.ceil((2 * span * limit) / most));
  /** From here down to `from` are more entries than one read gives. */
  let full: number | null = null;
  for (;;) {
    if (full !== null) length = Math.max(1, Math.min(length, Math.floor((full - from) / 2)));
    const isLast = from + length > newest;
    const window = { since: new Date(from), ...(isLast ? end : { until: new Date(from + length) }) };
    const entries = await page({ limit: most, ...window });
    if (entries.length === most && length > 1) {
      full = from + length;
      continue;
    }
    found.push(...above(entries.length < most ? entries : await readOn(page, window, entries)));
    if (found.length >= limit || isLast) return found.slice(0, limit);
    from += length;
    length *= GROWTH;
    if (full !== null && from >= full) full = null;
  }
}

/** All entries of a window, of which the first were read: so many have the same time. */
async function readOn(
  page: (query: FeedQuery) => Promise<readonly FeedEntry[]>,
  window: Pick<FeedQuery, 'since' | 'until'>,
  first: readonly FeedEntry[],
): Promise<readonly FeedEntry[]> {
  const all = [...first];
  for (;;) {
    const after = all.at(-1);
    if (after === undefined) return all;
    const next = await page({ limit: MOST, after, ...window });
    all.push(...next);
    if (next.length < MOST) return all;
  }
}
