import {
  cacheDocuments,
  type CachedAction,
  type CachedComment,
  type CachedGroup,
  type CachedPage,
  type FeedVariables,
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

/** Lists of a reader as a frontend shows them, their feed live beside. Disposing leaves the page. */
export interface Lists extends AsyncDisposable {
  /** Shows a list from its first page on. */
  open(name: ListName, variables: ListVariables): Promise<void>;
  /** What the reader sees of it: of actions and groups the summary, of comments the text. */
  shown(name: ListName): readonly string[];
  loadMore(name: ListName): Promise<unknown>;
  /** Shows another feed, live. @returns what the reader sees of it */
  openFeed(variables: FeedVariables): Promise<() => readonly string[]>;
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
