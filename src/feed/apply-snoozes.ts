import type { ActionId } from '../domain/action.ts';
import { lifted, compareFeedPositions, type FeedEntry, type FeedPosition } from '../domain/newsfeed-item.ts';
import type { EndedSnoozes, ReaderProfile } from '../domain/viewer.ts';
import { type FeedQuery, isInRange } from './feed-store.ts';

/** Minimum number of entries to look up at once. */
const BATCH = 50;

/** Reads of a feed that know nothing of snoozes. */
interface UnsnoozedFeed {
  page(reader: ReaderProfile, query: FeedQuery): Promise<readonly FeedEntry[]>;
  find(reader: ReaderProfile, ids: readonly ActionId[]): Promise<readonly FeedEntry[]>;
}

/**
 * A page with the reader's ended snoozes: an item's relevancy is at least its snooze end, and its lower position is dropped.
 * Items still snoozed pass through here: the rules withhold them, like archived ones.
 *
 * Free for readers who never snoozed anything. For others one query per session, plus one for a page in whose range a snooze
 * ended.
 * @param reading the same page without snoozes.
 */
export async function pageWithSnoozes(
  base: UnsnoozedFeed,
  reader: ReaderProfile,
  query: FeedQuery,
  reading: Promise<readonly FeedEntry[]>,
): Promise<readonly FeedEntry[]> {
  const [ended, known] = await Promise.all([reader.endedSnoozes(), reading]);
  if (ended.size === 0) return known;
  const entries = await readPage(base, { reader, query, ended, known });
  return entries.sort(compareFeedPositions).slice(0, query.limit);
}

/** The same for entries that were found by their actions. */
export async function withSnoozes(
  reader: ReaderProfile,
  finding: Promise<readonly FeedEntry[]>,
): Promise<readonly FeedEntry[]> {
  const [entries, ended] = await Promise.all([finding, reader.endedSnoozes()]);
  return ended.size === 0 ? entries : entries.map((entry) => boosted(ended, entry));
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
  base: UnsnoozedFeed,
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
  base: UnsnoozedFeed,
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
