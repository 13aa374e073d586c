import type { ReactNode } from 'react';
import { AsCode } from './as-code.tsx';

const FEED = `query Feed($first: Int, $view: String, $listId: ID, $order: FeedOrder, $filter: FeedFilter) {
  feed(first: $first, view: $view, listId: $listId, order: $order, filter: $filter) {
    edges { node { id relevancy reasons isUnread action { id conducted descriptor { type summary } } } }
    unread { count isExact } pageInfo { hasNextPage endCursor } liveCursor } }`;

/** How one asks for what the feed shows. */
export function FeedCode({ variables }: { readonly variables: object }): ReactNode {
  return <AsCode query={FEED} variables={{ ...variables }} />;
}
