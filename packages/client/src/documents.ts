/** Selection on NewsfeedItem: what FeedItem has. */
export const ITEM_FIELDS = `id relevancy reasons isUnread action { id conducted scope isHidden actor { memberId name }
    refs { refId type label } descriptor { type summary tags } engagement { comments likes reshares lastInteraction } }`;

/** @param withUnread whether to ask for the unread count too, which the server then keeps counting */
export function subscriptionOf(fields: string, withUnread: boolean): string {
  return `subscription FeedEvents($after: String, $filter: FeedFilter) { feedEvents(after: $after, filter: $filter) {
    __typename cursor ... on FeedItemAdded { item { ...Fields } } ... on FeedItemUpdated { item { ...Fields } }
    ... on FeedItemRemoved { itemId actionId } ${withUnread ? '... on UnreadCountChanged { unread { count isExact } }' : ''}
    ... on FeedResync { reason } } } ${fragment(fields)}`;
}

/** @param withTotal whether to have the entries counted. Not by a directive: the server runs those more slowly */
export function queryOf(fields: string, withTotal = false): string {
  return `query Feed($first: Int, $after: String, $filter: FeedFilter, $order: FeedOrder) {
    feed(first: $first, after: $after, filter: $filter, order: $order) { edges { cursor node { ...Fields } }
    pageInfo { hasNextPage endCursor } unread { count isExact } ${withTotal ? 'total { count isExact }' : ''}
    state liveCursor } } ${fragment(fields)}`;
}

function fragment(fields: string): string {
  return `fragment Fields on NewsfeedItem { ${fields} }`;
}
