import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { Count, UnreadCount } from '../shapes.ts';
import { ListScan, MAX_BATCH } from './list-scan.ts';

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
