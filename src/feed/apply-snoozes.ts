import type { ActionId } from '../domain/action.ts';
import { lifted, compareFeedPositions, type FeedEntry, type FeedPosition } from '../domain/newsfeed-item.ts';
import type { EndedSnoozes, ReaderProfile } from '../domain/viewer.ts';
import type { FeedReader, FeedAhead } from './feed-reader.ts';
import { type FeedQuery, isInRange } from './feed-store.ts';

/** Minimum number of entries to look up at once. */
const BATCH = 50;

/**
 * Applies the reader's ended snoozes to a feed: an item's relevancy is at least its snooze end, and its lower position is
 * dropped. Stored entries know nothing of snoozes. Items still snoozed pass through here: the rules withhold them, like
 * archived ones.
 *
 * Free for readers who never snoozed anything. For others one query per session, plus one for a page in whose range a snooze
 * ended.
 */
export function applySnoozes(base: FeedReader): FeedReader {
  async function page(
    reader: ReaderProfile,
    query: FeedQuery,
    ahead?: FeedAhead,
  ): Promise<readonly FeedEntry[]> {
    const [ended, known] = await Promise.all([reader.endedSnoozes(), base.page(reader, query, ahead)]);
    if (ended.size === 0) return known;
    const entries = await readPage(base, { reader, query, ended, known });
    return entries.sort(compareFeedPositions).slice(0, query.limit);
  }

  async function find(reader: ReaderProfile, ids: readonly ActionId[]): Promise<readonly FeedEntry[]> {
    const [entries, ended] = await Promise.all([base.find(reader, ids), reader.endedSnoozes()]);
    return ended.size === 0 ? entries : entries.map((entry) => boosted(ended, entry));
  }

  return {
    page,
    readAhead: (userId, query) => base.readAhead(userId, query),
    find,
    async locate(reader, actionId) {
      const located = await base.locate(reader, actionId);
      if (located === null) return null;
      return { ...located, entry: boosted(await reader.endedSnoozes(), located.entry) };
    },
  };
}

interface SnoozedPage {
  readonly reader: ReaderProfile;
  readonly query: FeedQuery;
  readonly ended: EndedSnoozes;
}

/**
 * Enough entries for a page, or all, unordered. For each page of the base feed: its entries without an ended snooze, and the
 * entries whose snooze end falls into the page's range.
 */
async function readPage(
  base: FeedReader,
  { known, ...page }: SnoozedPage & { readonly known: readonly FeedEntry[] },
): Promise<FeedEntry[]> {
  const { reader, query, ended } = page;
  const entries: FeedEntry[] = [];
  let piece: FeedQuery = query;
  let read = known;
  for (;;) {
    const staying = read.filter((entry) => boosted(ended, entry) === entry);
    const bottom = read.length < piece.limit ? undefined : read.at(-1);
    entries.push(...staying, ...(await readBack(base, { ...page, query: piece }, { staying, bottom })));
    if (bottom === undefined || entries.length >= query.limit) return entries;
    piece = { ...query, after: bottom, limit: query.limit - entries.length };
    read = await base.page(reader, piece);
  }
}

/** Entries whose snooze end lies within the page's range. */
async function readBack(
  base: FeedReader,
  { reader, query, ended }: SnoozedPage,
  { staying, bottom }: { readonly staying: readonly FeedEntry[]; readonly bottom: FeedPosition | undefined },
): Promise<readonly FeedEntry[]> {
  const { limit } = query;
  const known = new Set(staying.map(({ actionId }) => actionId));
  const isInPiece = (place: FeedPosition): boolean =>
    isInRange(place, query) && (bottom === undefined || compareFeedPositions(place, bottom) <= 0);
  const wanted = Array.from(ended, ([actionId, relevancy]): FeedPosition => ({ actionId, relevancy }))
    .filter((place) => !known.has(place.actionId) && isInPiece(place))
    .sort(compareFeedPositions);
  const back: FeedEntry[] = [];
  const batch = Math.max(limit, BATCH);
  for (let from = 0; from < wanted.length && back.length < limit; from += batch) {
    const ids = wanted.slice(from, from + batch).map(({ actionId }) => actionId);
    const found = (await base.find(reader, ids)).map((entry) => boosted(ended, entry));
    // Entries bumped since the page was read may be above the range now.
    back.push(...found.filter(isInPiece));
  }
  return back;
}

/** Returns the entry itself when no snooze boosts it. */
function boosted(ended: EndedSnoozes, entry: FeedEntry): FeedEntry {
  const relevancy = lifted(entry.relevancy, ended.get(entry.actionId));
  return relevancy === entry.relevancy ? entry : { ...entry, relevancy };
}
