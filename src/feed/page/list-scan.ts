import type { Count, UnreadCount } from '../../features/shapes.ts';
import type { Core } from '../../features/core.ts';
import {
  compareFeedPositions,
  type FeedEntry,
  type FeedPosition,
  type NewsfeedItem,
} from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { ListedState } from './filters.ts';
import { isInRange, type FeedQuery } from '../feed-store.ts';

/** The unread count is exact up to this number. */
export const MAX_UNREAD = 100;

/** The stages of one read. */
export interface ScanStages {
  /** Skeleton: the next entries after a position, in feed order. Fewer than `limit` means the end. */
  readonly scan: (after: FeedPosition | null, limit: number) => Promise<readonly FeedEntry[]>;
  /** Hydration, rules and presentation: the visible items, in the same order. */
  readonly select: (entries: readonly FeedEntry[]) => Promise<readonly NewsfeedItem[]>;
  /** Whether an entry is above the reader's read mark. */
  readonly isAboveRead: (entry: FeedEntry) => Promise<boolean>;
  /** Entries of the list below the read mark that are marked unread. */
  readonly unreadBelow: () => Promise<readonly FeedEntry[]>;
}

export interface FeedScanOptions extends ScanStages {
  /** The unread count is needed: read enough for it together with the list. */
  readonly withUnread: boolean;
}

/** One read of a feed for one response: page, total and unread count. */
export class FeedScan {
  readonly #options: FeedScanOptions;
  readonly #list: ListScan<FeedPosition, FeedEntry, NewsfeedItem>;
  #unread: Promise<UnreadCount> | undefined;

  constructor(options: FeedScanOptions) {
    this.#options = options;
    this.#list = new ListScan({
      scan: options.scan,
      select: options.select,
      idOf: ({ actionId }) => actionId,
      isAt: (entry, { relevancy }) => entry.relevancy.getTime() === relevancy.getTime(),
      firstBite: options.withUnread ? MAX_UNREAD + 1 : 0,
    });
  }

  /** Like the option, but reuses entries that were already read. */
  scan(after: FeedPosition | null, limit: number): Promise<readonly FeedEntry[]> {
    return this.#list.scan(after, limit);
  }

  /** Like the option; also decides the entries for the unread count, in the same round trip. */
  async select(entries: readonly FeedEntry[]): Promise<NewsfeedItem[]> {
    const top = this.#options.withUnread ? this.#list.read(0, MAX_UNREAD + 1) : [];
    return this.#list.select(entries, await this.#aboveRead(top));
  }

  /** Number of entries in the list. The page's items are counted even when the page lies beyond the counted part. */
  countTotal(page: readonly NewsfeedItem[]): Promise<Count> {
    return this.#list.countTotal(page);
  }

  countUnread(page: readonly NewsfeedItem[]): Promise<UnreadCount> {
    return (this.#unread ??= this.#countUnread(page));
  }

  async #countUnread(page: readonly NewsfeedItem[]): Promise<UnreadCount> {
    const unread = new Set(page.filter((item) => item.isUnread).map((item) => item.actionId));
    let looked = 0;
    let size = MAX_UNREAD + 1;
    for (;;) {
      await this.#list.readUpTo(looked + size);
      const next = this.#list.read(looked, looked + size);
      const above = await this.#aboveRead(next);
      for (const item of await this.#list.select(above)) if (item.isUnread) unread.add(item.actionId);
      looked += next.length;
      const isOver = above.length < next.length || next.length < size || unread.size > MAX_UNREAD;
      if (isOver) break;
      size = Math.min(MAX_BATCH, size * 2);
    }
    if (unread.size <= MAX_UNREAD)
      for (const item of await this.#list.select(await this.#options.unreadBelow()))
        if (item.isUnread) unread.add(item.actionId);
    return { count: Math.min(unread.size, MAX_UNREAD), isExact: unread.size <= MAX_UNREAD };
  }

  /** They come before all others in feed order. */
  async #aboveRead(entries: readonly FeedEntry[]): Promise<FeedEntry[]> {
    const above: FeedEntry[] = [];
    for (const entry of entries) {
      if (!(await this.#options.isAboveRead(entry))) break;
      above.push(entry);
    }
    return above;
  }
}

/** Upper bound on archived items of one reader: the list is always read in full. Concurrent calls may exceed it by one. */
export const MAX_ARCHIVED = 10_000;

const BATCH = 500;

/**
 * All of a reader's entries in a state, in feed order. Starts from the reader's marks instead of scanning the feed: one
 * round trip, plus one per 500 entries.
 */
export async function entriesInState(
  { feedReader, itemMarks, snoozes }: Core,
  reader: ReaderProfile,
  state: ListedState,
): Promise<readonly FeedEntry[]> {
  const { userId, asOf } = reader;
  const marked =
    state === 'SNOOZED'
      ? await snoozes.active(userId, asOf)
      : (await itemMarks.list(userId, state, null, MAX_ARCHIVED)).map(({ actionId }) => actionId);
  const entries: FeedEntry[] = [];
  for (let from = 0; from < marked.length; from += BATCH) {
    entries.push(...(await feedReader.find(reader, marked.slice(from, from + BATCH))));
  }
  return entries.sort(compareFeedPositions);
}

/** The next of these entries, which are in feed order, after a position. */
export function entriesAfter(
  entries: readonly FeedEntry[],
  after: FeedPosition | null,
  limit: number,
): readonly FeedEntry[] {
  const from = after === null ? 0 : entries.findIndex((entry) => compareFeedPositions(after, entry) < 0);
  return from === -1 ? [] : entries.slice(from, from + limit);
}

/** The total is exact up to this number. */
export const MAX_TOTAL = 1_000;
/** Upper bound on candidates read at once beyond the page itself. */
export const MAX_BATCH = 500;

export interface ListScanOptions<P, C extends P, T> {
  /** The next candidates after a position, in order. Fewer than `limit` means the end. */
  readonly scan: (after: P | null, limit: number) => Promise<readonly C[]>;
  /** The visible ones, in the same order. */
  readonly select: (candidates: readonly C[]) => Promise<readonly T[]>;
  readonly idOf: (candidate: P | T) => string;
  /** Whether a candidate is still at a given position. */
  readonly isAt: (candidate: C, position: P) => boolean;
  /** Minimum number of candidates to read at the top of the list. */
  readonly firstBite?: number;
}

/** Reads candidates from the top at most once and decides each at most once, so that page and counts of a response agree. */
export class ListScan<P, C extends P, T> {
  readonly #options: ListScanOptions<P, C, T>;
  /** Candidates read from the top, without gaps. */
  readonly #top: C[] = [];
  readonly #places = new Map<string, number>();
  readonly #decided = new Map<string, T | null>();
  #isAtEnd = false;
  #total: Promise<Count> | undefined;

  constructor(options: ListScanOptions<P, C, T>) {
    this.#options = options;
  }

  /** Like the option, but reuses candidates that were already read. */
  async scan(after: P | null, limit: number): Promise<readonly C[]> {
    const from = this.#placeAfter(after);
    if (from === null) return this.#options.scan(after, limit);
    await this.readUpTo(from + limit);
    return this.#top.slice(from, from + limit);
  }

  /** The visible candidates; `ahead` are decided in the same round trip. */
  async select(candidates: readonly C[], ahead: readonly C[] = []): Promise<T[]> {
    await this.#decide([...candidates, ...ahead]);
    return candidates.flatMap((candidate) => this.#shown(candidate) ?? []);
  }

  /** Candidates already read, from an index on. */
  read(from: number, to: number): readonly C[] {
    return this.#top.slice(from, to);
  }

  /** Reads from the top until at least `length` candidates are known, or all. */
  async readUpTo(length: number): Promise<void> {
    while (!this.#isAtEnd && this.#top.length < length) {
      const missing = length - this.#top.length;
      const limit = this.#top.length === 0 ? Math.max(missing, this.#options.firstBite ?? 0) : missing;
      const candidates = await this.#options.scan(this.#top.at(-1) ?? null, limit);
      for (const candidate of candidates)
        this.#places.set(this.#options.idOf(candidate), this.#top.push(candidate) - 1);
      this.#isAtEnd = candidates.length < limit;
    }
  }

  /** Number of entries in the list. The page's items are counted even when the page lies beyond the counted part. */
  countTotal(page: readonly T[]): Promise<Count> {
    return (this.#total ??= this.#countTotal(page));
  }

  async #countTotal(page: readonly T[]): Promise<Count> {
    const ids = new Set(page.map((node) => this.#options.idOf(node)));
    for (let looked = 0; ids.size <= MAX_TOTAL; looked += MAX_BATCH) {
      await this.readUpTo(looked + MAX_BATCH);
      const next = this.#top.slice(looked, looked + MAX_BATCH);
      for (const node of await this.select(next)) ids.add(this.#options.idOf(node));
      if (next.length < MAX_BATCH) break;
    }
    return { count: Math.min(ids.size, MAX_TOTAL), isExact: ids.size <= MAX_TOTAL };
  }

  /** `null`: the position is not within the part that was read. */
  #placeAfter(after: P | null): number | null {
    if (after === null) return 0;
    const place = this.#places.get(this.#options.idOf(after));
    const candidate = place === undefined ? undefined : this.#top[place];
    if (place === undefined || candidate === undefined) return null;
    return this.#options.isAt(candidate, after) ? place + 1 : null;
  }

  #shown(candidate: C): T | null {
    return this.#decided.get(this.#options.idOf(candidate)) ?? null;
  }

  async #decide(candidates: readonly C[]): Promise<void> {
    const { idOf, select } = this.#options;
    const open = new Map<string, C>();
    for (const candidate of candidates)
      if (!this.#decided.has(idOf(candidate))) open.set(idOf(candidate), candidate);
    if (open.size === 0) return;
    const nodes = await select([...open.values()]);
    for (const id of open.keys()) this.#decided.set(id, null);
    for (const node of nodes) this.#decided.set(idOf(node), node);
  }
}

/** Reads entries that may be unread: those above the read mark and, below it, those marked unread. */
interface UnreadEntries {
  /** In feed order. Fewer than the limit means the end. */
  page(query: FeedQuery): Promise<readonly FeedEntry[]>;
  /** In feed order. `list` null: of the feed. No query when there are none. */
  below(list: readonly FeedEntry[] | null): Promise<readonly FeedEntry[]>;
}

export function unreadEntries({ feedReader, itemMarks }: Core, reader: ReaderProfile): UnreadEntries {
  const { lastRead, userId, hasUnreadMarks } = reader;
  let marked: Promise<readonly FeedEntry[]> | undefined;
  async function findBelow(list: readonly FeedEntry[] | null): Promise<readonly FeedEntry[]> {
    if (lastRead === null || !hasUnreadMarks) return [];
    const ids = await itemMarks.unread(userId);
    const known = new Set(ids);
    const entries =
      list === null ? await feedReader.find(reader, ids) : list.filter(({ actionId }) => known.has(actionId));
    return entries
      .filter(({ relevancy }) => relevancy.getTime() <= lastRead.getTime())
      .sort(compareFeedPositions);
  }
  const below: UnreadEntries['below'] = (list) => (marked ??= findBelow(list));
  return {
    below,
    async page(query) {
      const since = newest(query.since ?? null, justAfter(lastRead));
      const above = await feedReader.page(reader, { ...query, ...(since === null ? {} : { since }) });
      if (above.length === query.limit) return above;
      const rest = (await below(null)).filter((entry) => isInRange(entry, query));
      return [...above, ...rest].slice(0, query.limit);
    },
  };
}

function newest(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a.getTime() > b.getTime() ? a : b;
}

/** Relevancies are whole milliseconds, so everything after the mark starts one millisecond later. */
function justAfter(mark: Date | null): Date | null {
  return mark === null ? null : new Date(mark.getTime() + 1);
}
