import type { ActionId } from '../domain/action.ts';
import { compareFeedPositions, type FeedEntry, type FeedPosition, lifted } from '../domain/newsfeed-item.ts';
import type { ReaderProfile, Returned } from '../domain/viewer.ts';
import { type FeedQuery, isInRange } from './feed-store.ts';

/** Minimum number of entries to look up at once. */
const BATCH = 50;

/** Reads of a feed that know nothing of marks. */
interface BaseFeed {
  readonly page: (reader: ReaderProfile, query: FeedQuery) => Promise<readonly FeedEntry[]>;
  readonly find: (reader: ReaderProfile, actionIds: readonly ActionId[]) => Promise<readonly FeedEntry[]>;
}

/**
 * A page with the items that came back to the reader: each stands at least where its state ended, and its lower position is
 * dropped. Items that are still away pass through here: the rules withhold them.
 *
 * Free for readers who never put an item away until a time. For others one query per session, plus one for a page in whose
 * range an item came back. For each page of the base feed: its entries that did not come back, and those that came back into the
 * page's range; until there are enough, or all.
 * @param reading the same page without them.
 */
export async function pageWithReturned(
  base: BaseFeed,
  reader: ReaderProfile,
  query: FeedQuery,
  reading: Promise<readonly FeedEntry[]>,
): Promise<readonly FeedEntry[]> {
  const [ended, known] = await Promise.all([reader.returned(), reading]);
  if (ended.size === 0) return known;
  const entries: FeedEntry[] = [];
  let piece: FeedQuery = query;
  let read = known;
  for (;;) {
    const staying = read.filter((entry) => boosted(ended, entry) === entry);
    const stop = query.extent?.stop ?? null;
    const bottom = stop ?? (read.length < piece.limit ? undefined : read.at(-1));
    entries.push(...staying, ...(await readBack(base, reader, ended, { query: piece, staying, bottom })));
    if (bottom === undefined || stop !== null || entries.length >= query.limit)
      return entries.sort(compareFeedPositions).slice(0, query.limit);
    piece = { ...query, after: bottom, limit: query.limit - entries.length };
    read = await base.page(reader, piece);
  }
}

/** The same for entries that were found by their actions. */
export async function withReturned(
  reader: ReaderProfile,
  finding: Promise<readonly FeedEntry[]>,
): Promise<readonly FeedEntry[]> {
  const [entries, ended] = await Promise.all([finding, reader.returned()]);
  return ended.size === 0 ? entries : entries.map((entry) => boosted(ended, entry));
}

/** Entries that came back into the page's range. */
async function readBack(
  base: BaseFeed,
  reader: ReaderProfile,
  ended: Returned,
  piece: {
    readonly query: FeedQuery;
    readonly staying: readonly FeedEntry[];
    readonly bottom: FeedPosition | undefined;
  },
): Promise<readonly FeedEntry[]> {
  const { query, staying, bottom } = piece;
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

/** Returns the entry itself unless it came back above where it was. */
function boosted(ended: Returned, entry: FeedEntry): FeedEntry {
  const relevancy = lifted(entry.relevancy, ended.get(entry.actionId));
  return relevancy === entry.relevancy ? entry : { ...entry, relevancy };
}
