import type { Count, CountedPage, Page, UnreadCount } from '../../core/shapes.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { Extent } from '../extent.ts';
import type { FeedQuery } from '../feed-store.ts';
import type { OrderedPage } from './declared.ts';
import type { ListRead } from './list-read.ts';
import type { Stretch } from '../../storage/documents/keyset.ts';
import { type AskedPage, collectPage } from './paging.ts';

/** The total is exact up to this number. */
export const MAX_TOTAL = 1_000;
/** The unread count is exact up to this number. */
export const MAX_UNREAD = 100;
/** Upper bound on candidates read at once beyond the page itself. */
export const MAX_BATCH = 500;
const FEW = 10;

interface ListOptions<P, C extends P, T> {
  readonly scan: (stretch: Stretch<P>) => Promise<readonly C[]>;
  /** The visible ones, in the same order. */
  readonly select: (candidates: readonly C[]) => Promise<readonly T[]>;
  readonly idOf: (candidate: P | T) => string;
  /** Whether a candidate is still at a given position. */
  readonly isAt: (candidate: C, position: P) => boolean;
  /** Minimum number of candidates to read at the top of the list. Default: as many as the page needs. */
  readonly firstRead?: number;
  /** The key by which entries are counted: equal ones count once. Default: the id. */
  readonly keyOf?: (entry: T) => string;
  /** Where scans stop, before the list ends. Default: nowhere. */
  readonly extent?: Extent | undefined;
  /** Whether scans end before the list does, once one has been made. Default: never. */
  readonly isCut?: (() => boolean) | undefined;
  /** Whether there is more than what is stored, which takes long to read. Default: it is read. */
  readonly isLonger?: (() => Promise<boolean>) | undefined;
}

/** Whether nothing counts from a place on. */
type IsOver<P> = (place: P) => boolean | Promise<boolean>;

/**
 * One read of a list for one response: pages and counts. Reads candidates from the top at most once and decides each at most
 * once, so that page and counts agree.
 */
export class List<P, C extends P, T> {
  readonly #options: ListOptions<P, C, T>;
  /** Candidates read from the top, without gaps. */
  readonly #top: C[] = [];
  readonly #places = new Map<string, number>();
  readonly #decided = new Map<string, T | null>();
  #isAtEnd = false;
  #total: Promise<Count> | undefined;
  #expected = 0;
  #lookedAt = 0;

  constructor(options: ListOptions<P, C, T>) {
    this.#options = options;
  }

  /** So many candidates from the top will be needed: they are read and decided together. */
  expect(count: number): void {
    this.#expected = Math.min(MAX_BATCH, count);
  }

  /** So many candidates from the top were asked for. */
  get lookedAt(): number {
    return Math.min(this.#lookedAt, this.#top.length);
  }

  async page(options: {
    readonly page: AskedPage<P>;
    readonly cursorOf: (entry: T) => string;
  }): Promise<CountedPage<T>> {
    const page = await collectPage<P, C, T>({
      ...options,
      scan: (stretch) => this.scan(stretch),
      select: (candidates) => this.select(candidates),
    });
    return { ...page, countTotal: () => this.countTotal(page.edges.map(({ node }) => node)) };
  }

  /** Like the option, but reuses candidates that were already read. */
  async scan(stretch: Stretch<P>): Promise<readonly C[]> {
    const { limit, isUp } = stretch;
    const from = isUp ? null : this.#placeAfter(stretch.from);
    if (from === null) return this.#options.scan(stretch);
    await this.readUpTo(from + limit);
    this.#lookedAt = Math.max(this.#lookedAt, from + limit);
    return this.#top.slice(from, from + limit);
  }

  /** The visible candidates; `ahead` are decided in the same round trip. */
  async select(candidates: readonly C[], ahead: readonly C[] = []): Promise<T[]> {
    await this.#decide([...candidates, ...ahead, ...this.#top.slice(0, this.#expected)]);
    return candidates.flatMap((candidate) => this.#decided.get(this.#options.idOf(candidate)) ?? []);
  }

  /** Candidates already read from the top, from an index on. */
  protected read(from = 0, to?: number): readonly C[] {
    return this.#top.slice(from, to);
  }

  protected isDecided(candidate: C): boolean {
    return this.#decided.has(this.#options.idOf(candidate));
  }

  /** Whether all candidates have been read from the top. */
  protected get isReadWhole(): boolean {
    return this.#isAtEnd;
  }

  /** Where scans have stopped, before the list ended; `null`: they have not. */
  protected stop(): FeedPosition | null {
    return this.#options.extent?.stop ?? null;
  }

  protected get isCut(): boolean {
    return this.#options.isCut?.() === true;
  }

  /** Reads from the top until at least `length` candidates are known, or all. */
  protected async readUpTo(length: number): Promise<void> {
    while (!this.#isAtEnd && this.stop() === null && this.#top.length < length) {
      const missing = length - this.#top.length;
      const first = Math.max(this.#expected, this.#options.firstRead ?? 0);
      const limit = this.#top.length === 0 ? Math.max(missing, first) : missing;
      const candidates = await this.#options.scan({ from: this.#top.at(-1) ?? null, limit, isUp: false });
      for (const candidate of candidates)
        this.#places.set(this.#options.idOf(candidate), this.#top.push(candidate) - 1);
      this.#isAtEnd = candidates.length < limit && this.stop() === null;
    }
  }

  /**
   * Counts from the top down, as far as something counts.
   * @param add takes the visible ones of a step. Returns how many have been counted
   * @returns whether everything that counts was looked at, or `most` were counted
   */
  protected async countDown({
    most,
    isOver,
    add,
  }: {
    readonly most: number;
    readonly isOver: IsOver<P>;
    readonly add: (entries: readonly T[]) => number;
  }): Promise<boolean> {
    let looked = 0;
    for (let size = most + 1; ; size = Math.min(MAX_BATCH, size * 2)) {
      await this.readDown(looked + size, isOver);
      const next = this.read(looked, looked + size);
      const counting = await above(next, isOver);
      const counted = add(await this.select(counting));
      looked += next.length;
      const isEnd = counting.length < next.length;
      if (isEnd || next.length < size || counted > most)
        return isEnd || (this.stop() === null && !this.isCut);
    }
  }

  /** Those of the first so many that were read from the top that count. */
  protected counting(length: number, isOver: IsOver<P>): Promise<readonly C[]> {
    return above(this.read(0, length), isOver);
  }

  /** Reads from the top until at least `length` candidates are known, or all that count. */
  protected readDown(length: number, _isOver: IsOver<P>): Promise<void> {
    return this.readUpTo(length);
  }

  /** Number of entries in the list. Those of the page are counted even when the page lies beyond the counted part. */
  countTotal(page: readonly T[]): Promise<Count> {
    return (this.#total ??= this.#countTotal(page));
  }

  protected keyOf(entry: T): string {
    return (this.#options.keyOf ?? this.#options.idOf)(entry);
  }

  async #countTotal(page: readonly T[]): Promise<Count> {
    const keys = new Set(page.map((entry) => this.keyOf(entry)));
    let size = MAX_BATCH;
    for (let looked = 0, few = FEW; keys.size <= MAX_TOTAL; looked += size, few *= 2) {
      // One more is all that it takes.
      if (keys.size === MAX_TOTAL && (await this.#options.isLonger?.()) === true)
        return { count: MAX_TOTAL, isExact: false };
      // Where few are missing, they are mostly the next.
      if (looked > 0) size = Math.min(MAX_BATCH, Math.max(few, 2 * (MAX_TOTAL + 1 - keys.size)));
      await this.readUpTo(looked + size);
      const next = this.#top.slice(looked, looked + size);
      for (const entry of await this.select(next)) keys.add(this.keyOf(entry));
      if (next.length < size) break;
    }
    const isExact = keys.size <= MAX_TOTAL && this.stop() === null && !this.isCut;
    return { count: Math.min(keys.size, MAX_TOTAL), isExact };
  }

  /** `null`: the position is not within the part that was read. */
  #placeAfter(after: P | null): number | null {
    if (after === null) return 0;
    const place = this.#places.get(this.#options.idOf(after));
    const candidate = place === undefined ? undefined : this.#top[place];
    if (place === undefined || candidate === undefined) return null;
    return this.#options.isAt(candidate, after) ? place + 1 : null;
  }

  async #decide(candidates: readonly C[]): Promise<void> {
    const { idOf, select } = this.#options;
    const open = new Map<string, C>();
    for (const candidate of candidates)
      if (!this.#decided.has(idOf(candidate))) open.set(idOf(candidate), candidate);
    if (open.size === 0) return;
    const entries = await select([...open.values()]);
    for (const id of open.keys()) this.#decided.set(id, null);
    for (const entry of entries) this.#decided.set(idOf(entry), entry);
  }
}

/** The stages of one read of a feed. */
export interface FeedStages {
  /** Where the skeleton stops, before the list ends. Absent: nowhere. */
  readonly extent?: Extent | undefined;
  /** Begins to read the top of the list, so many entries of it. Need not be called. */
  readonly open: (limit: number) => void;
  /** Skeleton: the next entries from a position on. */
  readonly skeleton: (stretch: Stretch<FeedPosition>) => Promise<readonly FeedEntry[]>;
  /** The same, the newest actions first; absent: only the skeleton has them. */
  readonly scanConducted?: OrderedPage['scanConducted'];
  /** Hydration, rules and presentation: the visible items, in the same order. */
  readonly show: (entries: readonly FeedEntry[]) => Promise<readonly NewsfeedItem[]>;
  /** Whether an entry is above the reader's read mark. */
  readonly isAboveRead: (entry: FeedPosition) => Promise<boolean>;
  /** Whether the skeleton ends before the list does, once it was read. Absent: it does not. */
  readonly isCut?: () => boolean;
  /** Whether the list goes on below what is stored. Absent: it is read to find out. */
  readonly isLonger?: () => Promise<boolean>;
  /** The next entries of the list below the read mark that are marked unread, in feed order. */
  readonly unreadBelow: (query: FeedQuery) => Promise<readonly FeedEntry[]>;
}

interface FeedListOptions extends FeedStages {
  readonly read: ListRead;
  /** The unread count is needed: read and decide enough for it together with the page. Default: false. */
  readonly withUnread?: boolean | undefined;
  /** The total is needed: read the first entries that it counts together with the page. Default: false. */
  readonly withTotal?: boolean | undefined;
  readonly keyOf?: (item: NewsfeedItem) => string;
  /** Tells its unread count from those of other lists of the read. Default: there are no others. */
  readonly countedAs?: string;
}

function firstRead({ withTotal, withUnread }: FeedListOptions): number {
  if (withTotal === true) return MAX_BATCH;
  return withUnread === true ? MAX_UNREAD + 1 : 0;
}

/** One read of a feed: also counts what is unread of it. */
export class FeedList extends List<FeedPosition, FeedEntry, NewsfeedItem> {
  readonly #stages: FeedListOptions;
  #unread: Promise<UnreadCount> | undefined;
  #all: Promise<Count> | undefined;

  constructor({ keyOf, ...stages }: FeedListOptions) {
    super({
      ...{ scan: stages.skeleton, select: stages.show, ...(keyOf === undefined ? {} : { keyOf }) },
      idOf: ({ actionId }) => actionId,
      isAt: (entry, { relevancy }) => entry.relevancy.getTime() === relevancy.getTime(),
      firstRead: firstRead(stages),
      ...{ extent: stages.extent, isCut: stages.isCut, isLonger: stages.isLonger },
    });
    this.#stages = stages;
  }

  /** A page from the top. @param what tells pages of the list apart @param limit of its first scan */
  async first(
    what: string,
    limit: number,
    make: () => Promise<Page<NewsfeedItem>>,
  ): Promise<Page<NewsfeedItem>> {
    const { read, open } = this.#stages;
    const expected = read.expect(what);
    this.expect(expected);
    open(Math.max(limit, expected, firstRead(this.#stages)));
    const { edges, ...page } = await read.made(read.pages, what, async () => {
      const { edges: made, ...rest } = await make();
      read.keepNeeded(what, this.lookedAt > limit ? this.lookedAt : 0);
      const kept = made.map(({ cursor, node: { actionId, relevancy, reasons, action } }) => ({
        ...{ cursor, actionId, relevancy, reasons, rev: action.rev },
      }));
      return { ...rest, edges: kept };
    });
    const nodes = await this.select(edges);
    // A session that had read its reader before may be shown less than the answer says.
    if (nodes.length < edges.length) return make();
    return { ...page, edges: nodes.map((node, index) => ({ node, cursor: edges[index]?.cursor ?? '' })) };
  }

  override async select(entries: readonly FeedEntry[]): Promise<NewsfeedItem[]> {
    const { read, withUnread } = this.#stages;
    const isCounted = withUnread === true && (await read.known(read.counts, 'unread')) === null;
    return super.select(entries, await this.counting(isCounted ? MAX_UNREAD + 1 : 0, this.#isOver));
  }

  /** Number of entries that are unread. Those of the page are counted even beyond the counted part. */
  countUnread(page: readonly NewsfeedItem[]): Promise<UnreadCount> {
    const { read, countedAs = '' } = this.#stages;
    return (this.#unread ??= read.made(read.counts, `unread${countedAs}`, () => this.#countUnread(page)));
  }

  override countTotal(page: readonly NewsfeedItem[]): Promise<Count> {
    const { read } = this.#stages;
    return (this.#all ??= read.made(read.counts, 'total', () => super.countTotal(page)));
  }

  /** Those that represent what they are counted as. */
  protected topmost(items: readonly NewsfeedItem[]): Promise<readonly NewsfeedItem[]> {
    return Promise.resolve(items);
  }

  async #countUnread(page: readonly NewsfeedItem[]): Promise<UnreadCount> {
    const unread = new Set<string>();
    const add = (items: readonly NewsfeedItem[]): void => {
      for (const item of items) if (item.isUnread) unread.add(this.keyOf(item));
    };
    add(page);
    const seen = new Set<string>();
    const isWhole = await this.countDown({
      most: MAX_UNREAD,
      isOver: this.#isOver,
      add: (items) => {
        add(this.firstOfKeys(items, seen));
        return unread.size;
      },
    });
    let after: FeedEntry | undefined;
    for (let limit = MAX_UNREAD + 1; unread.size <= MAX_UNREAD; limit = Math.min(MAX_BATCH, limit * 2)) {
      const below = await this.#stages.unreadBelow({ limit, ...(after && { after }) });
      add(await this.topmost(this.firstOfKeys(await this.select(below), seen)));
      after = below.at(-1);
      if (below.length < limit) break;
    }
    return { count: Math.min(unread.size, MAX_UNREAD), isExact: unread.size <= MAX_UNREAD && isWhole };
  }

  /** Items whose keys have not occurred yet. */
  protected firstOfKeys(items: readonly NewsfeedItem[], seen: Set<string>): NewsfeedItem[] {
    return items.filter((item) => {
      const key = this.keyOf(item);
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  }

  /** All above the read mark come before all others in feed order. */
  readonly #isOver = async (place: FeedPosition): Promise<boolean> =>
    !(await this.#stages.isAboveRead(place));
}

/** Those before the first that is over. */
async function above<P, C extends P>(candidates: readonly C[], isOver: IsOver<P>): Promise<readonly C[]> {
  for (const [index, candidate] of candidates.entries())
    if (await isOver(candidate)) return candidates.slice(0, index);
  return candidates;
}
