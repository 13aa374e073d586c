import type { FeedItem, FeedPage } from './documents.ts';

interface Placed {
  readonly relevancy: string;
  readonly action: { readonly id: string };
}

/** A sort key, greatest on top as in a feed: relevancy, then action id, which the global id contains in base64. */
export function orderOf({ relevancy, action }: Placed): string {
  return `${relevancy} ${atob(action.id)}`;
}

/** The list with the item in its place, whether or not it had the item before. */
export function withItem(feed: FeedPage, item: FeedItem): FeedPage {
  const { edges } = withoutItem(feed, item.id);
  const found = edges.findIndex(({ node }) => orderOf(node) < orderOf(item));
  // Below everything that is loaded: the next page brings it.
  if (found < 0 && feed.pageInfo.hasNextPage) return { ...feed, edges };
  const edge = { __typename: 'FeedEdge', cursor: '', node: item } as const;
  return { ...feed, edges: edges.toSpliced(found < 0 ? edges.length : found, 0, edge) };
}

export function withoutItem(feed: FeedPage, itemId: string): FeedPage {
  return { ...feed, edges: feed.edges.filter(({ node }) => node.id !== itemId) };
}
