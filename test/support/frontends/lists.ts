import {
  cacheDocuments,
  type CachedAction,
  type CachedComment,
  type CachedGroup,
  type CachedPage,
  type FeedOptions,
  type ListVariables,
  type OtherLists,
} from '@fanfare/client/cache';

export type ListName = keyof OtherLists;
type Node = CachedAction | CachedComment | CachedGroup;

/** What a test does with a list. */
export interface PagedList {
  read(): CachedPage<Node> | undefined;
  load(): Promise<void>;
  loadMore(): Promise<void>;
  watch(): () => void;
}

/** The queries of the lists, for the truth of the server. */
export const LISTS: Readonly<Record<ListName, string>> = cacheDocuments();

/** A feed as a frontend shows it. */
export interface OpenFeed {
  /** What the reader sees of it. */
  shown(): readonly string[];
  hasMoreAbove(): boolean;
  loadMore(): Promise<void>;
  loadPrevious(): Promise<void>;
}

/** Lists of a reader as a frontend shows them, their feed live beside. Disposing leaves the page. */
export interface Lists extends AsyncDisposable {
  /** Shows a list from its first page on. */
  open(name: ListName, variables: ListVariables): Promise<void>;
  /** What the reader sees of it: of actions and groups the summary, of comments the text. */
  shown(name: ListName): readonly string[];
  loadMore(name: ListName): Promise<unknown>;
  /** Shows another feed, live. */
  openFeed(options: FeedOptions): Promise<OpenFeed>;
  /** Rejects when the server refuses or cannot be reached. */
  bookmark(actionId: string): Promise<unknown>;
  unbookmark(actionId: string): Promise<unknown>;
  comment(actionId: string, text: string): Promise<unknown>;
  removeComment(id: string): Promise<unknown>;
}

export function textOf(node: Node): string {
  if ('text' in node) return node.text ?? '';
  if ('descriptor' in node) return node.descriptor.summary;
  return `${String(node.count.count)} × ${node.items[0]?.action.descriptor.summary ?? ''}`;
}
