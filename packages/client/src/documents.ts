const SHOWN = `refs { refId type label } descriptor { type summary tags } engagement { comments likes reshares lastInteraction }`;
/** Selection on NewsfeedItem: what FeedItem has. */
export const ITEM_FIELDS = `id relevancy reasons isUnread action { id conducted scope isHidden actor { memberId name } ${SHOWN} }`;

const SENTENCE = 'summary summaryParts { text member { memberId } ref { refId } }';
const ABOUT = 'action { id descriptor { summary } } interaction { id text }';
/** Selection on Notification: what Notification has. */
const NOTIFICATION_FIELDS = `id kind at isSeen isRead ${SENTENCE} actors(first: 3) { memberId name } actorCount { count isExact } ${ABOUT}`;
const COUNTS = 'unseen { count isExact } unread { count isExact }';
const FROM = '(after: $after, filter: $filter) { __typename';
const PAGE_INFO = 'pageInfo { hasNextPage endCursor }';

export const NOTIFICATIONS = `query Notifications($first: Int, $after: String, $filter: NotificationFilter) {
    notifications(first: $first, after: $after, filter: $filter) { edges { cursor node { ${NOTIFICATION_FIELDS} } }
    ${PAGE_INFO} ${COUNTS} liveCursor } }`;

/** @param withCounts whether to ask for the counts too, which the server then keeps counting */
export function notificationEventsOf(withCounts: boolean): string {
  return `subscription NotificationEvents($after: String, $filter: NotificationFilter) {
    notificationEvents${FROM} ... on NotificationsReady { cursor } ... on NotificationsResync { cursor reason }
    ... on NotificationAdded { cursor notification { ...Fields } }
    ... on NotificationUpdated { cursor notification { ...Fields } } ... on NotificationRemoved { cursor notificationId }
    ${withCounts ? `... on NotificationCountsChanged { cursor ${COUNTS} }` : ''} } }
    fragment Fields on Notification { ${NOTIFICATION_FIELDS} }`;
}

/** @param withUnread whether to ask for the unread count too, which the server then keeps counting */
export function subscriptionOf(fields: string, withUnread: boolean): string {
  const counts = withUnread ? '... on UnreadCountChanged { unread { count isExact } }' : '';
  return `subscription FeedEvents($after: String, $filter: FeedFilter) { feedEvents${FROM} cursor ${counts}
    ... on FeedItemAdded { item { ...Fields } } ... on FeedItemUpdated { item { ...Fields } }
    ... on FeedItemRemoved { itemId actionId } ... on FeedResync { reason } } } ${fragment(fields)}`;
}

/** @param withTotal whether to have the entries counted. Not by a directive: the server runs those more slowly */
export function queryOf(fields: string, withTotal = false): string {
  return `query Feed($first: Int, $after: String, $filter: FeedFilter, $order: FeedOrder) {
    feed(first: $first, after: $after, filter: $filter, order: $order) { edges { cursor node { ...Fields } }
    ${PAGE_INFO} unread { count isExact } state liveCursor ${withTotal ? 'total { count isExact }' : ''} } } ${fragment(fields)}`;
}

function fragment(fields: string): string {
  return `fragment Fields on NewsfeedItem { ${fields} }`;
}
