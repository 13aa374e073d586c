import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';

/** Input of a page, whatever its order. */
export interface OrderedPage {
  readonly userId: string;
  readonly size: number;
  /** Cursor of this order; `null`: from the top. */
  readonly after: string | null;
  readonly scan: (after: FeedPosition | null, limit: number) => Promise<readonly FeedEntry[]>;
  readonly select: (candidates: readonly FeedEntry[]) => Promise<readonly NewsfeedItem[]>;
}
