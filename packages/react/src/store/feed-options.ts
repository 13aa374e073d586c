import type { Count, FeedFilter, FeedOrder, FeedPage, FeedQuery, Instant } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import type { ItemTop } from './item-list.ts';
import { EMPTY_LIST, type ListOptions, type ListState } from './list-store.ts';

export interface FeedOptions extends ListOptions {
  /** The name of a view of the server's configuration, instead of the whole feed. */
  readonly view?: string;
  /** Id of a list of the reader, instead of the whole feed. Not beside `view`. */
  readonly listId?: string;
  readonly filter?: FeedFilter;
  /** Default RELEVANCY. Beside `view`: the order of the view, so that new items get their places. */
  readonly order?: FeedOrder;
  /** Also have the entries counted, which costs the server a query. Default false. */
  readonly total?: boolean;
  /**
   * `firstUnread`: begins with the oldest unread item of the feed, view or list, and loads both ways. Only in the order RELEVANCY, with
   * or without a filter; elsewhere, and when nothing is unread, the list begins at the top. Default: at the top.
   */
  readonly from?: 'firstUnread';
}

/** Which of a reader's lists; empty: the whole feed. */
export interface WhichList {
  readonly view?: string | undefined;
  readonly listId?: string | undefined;
}

/** A page of a feed, and where it begins if that is not the top. */
export interface ListedPage extends FeedPage<FanfareItem> {
  readonly top?: ItemTop | undefined;
}

/** A page that came with the HTML. JSON. */
export interface FeedSnapshot {
  readonly key: string;
  readonly page: ListedPage;
  /** Of its sentences; absent: not known. */
  readonly language?: string | undefined;
}

/** Equal options have equal keys, however they are written down. */
export function keyOf(options: FeedOptions): string {
  return JSON.stringify([pageKeyOf(options), options.live ?? 'hold']);
}

/** The same for what is read: how a list is watched makes no other page of it. */
export function pageKeyOf(options: FeedOptions): string {
  const { view, listId, filter = {}, order = 'RELEVANCY', first = 25, total = false, from } = options;
  const conditions = Object.entries(filter)
    .filter(([, value]) => value != null)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([conditions, order, first, total, view, listId, from]);
}

/** Which list a page is asked of. A view has its order on the server. */
export function queryOf({ view, listId, filter, order, total = false }: FeedOptions): FeedQuery {
  return {
    ...(total ? { total } : {}),
    ...(filter && { filter }),
    ...(listId && { listId }),
    ...(view ? { view } : order && { order }),
  };
}

export interface FeedSnapshotState extends ListState<FanfareItem> {
  /** Of the stored feed; REBUILDING: it answers from what is stored. */
  readonly state: FeedPage['state'];
  readonly unread: FeedPage['unread'];
  /** All entries with this filter, as of the last page and the events since; null: not asked for, or not known yet. */
  readonly total: Count | null;
}

export const EMPTY: FeedSnapshotState = {
  ...EMPTY_LIST,
  state: 'READY',
  unread: { count: 0, isExact: true },
  total: null,
};

/**
 * A mark of the reader, shown until the list was read again, or an event has had the item, after it was confirmed. A bump after the mark makes an item
 * unread again.
 */
export interface ReadMark {
  /** The view whose mark it is, on all of it; absent: that of the feed, or single items. */
  readonly view?: string | undefined;
  /** Everything up to this relevancy, as read. */
  readonly upTo?: Instant;
  /** Single items by action: their relevancy when they were marked, and whether as read. */
  readonly items?: Map<string, readonly [Instant, boolean]>;
  isConfirmed?: true;
}
