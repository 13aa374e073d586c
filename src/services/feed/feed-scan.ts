import type { ActionId } from '../../domain/action.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { UnreadCount } from '../services.ts';

/** Up to here the number of unread items is exact. */
export const MAX_UNREAD = 100;
/** Most entries read at once beyond what the list itself needs. */
const MAX_BITE = 500;

export interface FeedScanOptions {
  /** The next entries after a position, in feed order; fewer than `limit` means there are no more. */
  readonly scan: (after: FeedPosition | null, limit: number) => Promise<readonly FeedEntry[]>;
  /** Those that may be shown and pass the filter, in the same order. */
  readonly select: (entries: readonly FeedEntry[]) => Promise<readonly NewsfeedItem[]>;
  readonly isUnread: (entry: FeedEntry) => Promise<boolean>;
  /** The count will be asked for: enough for it is read together with the list. */
  readonly withUnread: boolean;
}

/**
 * One reading of a feed for one response. Entries are read from the top once, and each is decided once: list and count of a
 * response agree, whatever is published meanwhile.
 */
export class FeedScan {
  readonly #options: FeedScanOptions;
  /** What has been read from the top on, without a gap. */
  readonly #top: FeedEntry[] = [];
  readonly #places = new Map<ActionId, number>();
  readonly #decided = new Map<ActionId, NewsfeedItem | null>();
  #isAtEnd = false;

  constructor(options: FeedScanOptions) {
    this.#options = options;
  }

  /** The same as the option, from what has been read already as far as that goes. */
  async scan(after: FeedPosition | null, limit: number): Promise<readonly FeedEntry[]> {
    const from = this.#placeAfter(after);
    if (from === null) return this.#options.scan(after, limit);
    await this.#readUpTo(from + limit);
    return this.#top.slice(from, from + limit);
  }

  /** The same as the option; what the count needs is decided in the same round trip. */
  async select(entries: readonly FeedEntry[]): Promise<NewsfeedItem[]> {
    const ahead = this.#options.withUnread ? await this.#unreadAmong(this.#top.slice(0, MAX_UNREAD + 1)) : [];
    await this.#decide([...entries, ...ahead]);
    return entries.flatMap((entry) => this.#decided.get(entry.actionId) ?? []);
  }

  /** How many entries of the list are unread, those of the page included wherever it lies. */
  async countUnread(page: readonly NewsfeedItem[]): Promise<UnreadCount> {
    const unread = new Set(page.filter((item) => item.isUnread).map((item) => item.actionId));
    let looked = 0;
    let bite = MAX_UNREAD + 1;
    for (;;) {
      await this.#readUpTo(looked + bite);
      const next = this.#top.slice(looked, looked + bite);
      const above = await this.#unreadAmong(next);
      await this.#decide(above);
      for (const { actionId } of above)
        if ((this.#decided.get(actionId) ?? null) !== null) unread.add(actionId);
      looked += next.length;
      const isOver = above.length < next.length || next.length < bite || unread.size > MAX_UNREAD;
      if (isOver) break;
      bite = Math.min(MAX_BITE, bite * 2);
    }
    return { count: Math.min(unread.size, MAX_UNREAD), isExact: unread.size <= MAX_UNREAD };
  }

  /** Null: not behind anything that has been read. */
  #placeAfter(after: FeedPosition | null): number | null {
    if (after === null) return 0;
    const place = this.#places.get(after.actionId);
    const entry = place === undefined ? undefined : this.#top[place];
    return place !== undefined && entry?.relevancy.getTime() === after.relevancy.getTime() ? place + 1 : null;
  }

  async #readUpTo(length: number): Promise<void> {
    while (!this.#isAtEnd && this.#top.length < length) {
      const missing = length - this.#top.length;
      const isFirst = this.#top.length === 0;
      const limit = isFirst && this.#options.withUnread ? Math.max(missing, MAX_UNREAD + 1) : missing;
      const entries = await this.#options.scan(this.#top.at(-1) ?? null, limit);
      for (const entry of entries) this.#places.set(entry.actionId, this.#top.push(entry) - 1);
      this.#isAtEnd = entries.length < limit;
    }
  }

  /** Unread entries stand above all others. */
  async #unreadAmong(entries: readonly FeedEntry[]): Promise<FeedEntry[]> {
    const unread: FeedEntry[] = [];
    for (const entry of entries) {
      if (!(await this.#options.isUnread(entry))) break;
      unread.push(entry);
    }
    return unread;
  }

  async #decide(entries: readonly FeedEntry[]): Promise<void> {
    const open = new Map<ActionId, FeedEntry>();
    for (const entry of entries) if (!this.#decided.has(entry.actionId)) open.set(entry.actionId, entry);
    if (open.size === 0) return;
    const items = await this.#options.select([...open.values()]);
    for (const actionId of open.keys()) this.#decided.set(actionId, null);
    for (const item of items) this.#decided.set(item.actionId, item);
  }
}
