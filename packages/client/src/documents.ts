import type { ClientFields, Fields } from './fields.ts';

/** Selection on Member, for all who are named and shown with a picture. */
export const PERSON = 'memberId name imageUrl';
/** Selection on Action: what ActionContent has. */
export const CONTENT = `content { body rating { value max } media { url alt kind width height blurhash } }`;

export const SHOWN = `refs { refId type label } ${CONTENT} descriptor { type summary tags } engagement { comments likes reshares lastInteraction }`;
/** Selection on NewsfeedItem: what FeedItem has. */
export const ITEM_FIELDS = `id relevancy reasons isUnread action { id conducted scope isHidden actor { ${PERSON} } ${SHOWN} }`;

/** The whole selection on NewsfeedItem. */
export function itemFields({ base = ITEM_FIELDS, item = '', action = '' }: ClientFields = {}): string {
  return `${base} ${item} ${action && `action { ${action} }`}`.trim();
}

/** @param fields as text: all of the selection on NewsfeedItem */
export function clientFields(fields: string | ClientFields = {}): ClientFields {
  return typeof fields === 'string' ? { base: fields } : fields;
}

export const SENTENCE = 'summary summaryParts { text member { memberId } ref { refId } }';
/** Selection on Notification: what Notification has. */
const notificationFields = ({ notification = '', action = '', comment = '' }: Fields): string =>
  `id kind at isSeen isRead ${SENTENCE} actors(first: 3) { ${PERSON} } actorCount { count isExact }
  action { id descriptor { type summary } ${action} } interaction { id text ${comment} } ${notification}`;
const COUNTS = 'unseen { count isExact } unread { count isExact }';
export const from = (more = ''): string => `(after: $after, ${more}filter: $filter) { __typename`;
const PAGE_INFO = 'pageInfo { hasNextPage endCursor }';

export function notificationsOf(fields: Fields): string {
  return `query Notifications($first: Int, $after: String, $filter: NotificationFilter) {
    notifications(first: $first, after: $after, filter: $filter) { edges { cursor node { ${notificationFields(fields)} } }
    ${PAGE_INFO} ${COUNTS} liveCursor } }`;
}

/** @param withCounts whether to ask for the counts too, which the server then keeps counting */
export function notificationEventsOf(fields: Fields, withCounts: boolean): string {
  return `subscription NotificationEvents($after: String, $filter: NotificationFilter) {
    notificationEvents${from()} ... on NotificationsReady { cursor } ... on NotificationsResync { cursor reason }
    ... on NotificationAdded { cursor notification { ...Fields } }
    ... on NotificationUpdated { cursor notification { ...Fields } } ... on NotificationRemoved { cursor notificationId }
    ${withCounts ? `... on NotificationCountsChanged { cursor ${COUNTS} }` : ''} } }
    fragment Fields on Notification { ${notificationFields(fields)} }`;
}

/** @param withUnread whether to ask for the unread count too, which the server then keeps counting */
export function subscriptionOf(fields: string, withUnread: boolean): string {
  const counts = withUnread ? '... on UnreadCountChanged { unread { count isExact } }' : '';
  return `subscription FeedEvents($after: String, $view: String, $listId: ID, $filter: FeedFilter) { feedEvents${from('view: $view, listId: $listId, ')} cursor ${counts}
    ... on FeedItemAdded { item { ...Fields } } ... on FeedItemUpdated { item { ...Fields } }
    ... on FeedItemRemoved { itemId actionId } ... on FeedResync { reason } } } ${fragment(fields)}`;
}

/** @param withTotal whether to have the entries counted. Not by a directive: the server runs those more slowly */
export function queryOf(fields: string, withTotal = false): string {
  return `query Feed($first: Int, $after: String, $last: Int, $before: String, $view: String, $listId: ID,
    $filter: FeedFilter, $order: FeedOrder) {
    feed(first: $first, after: $after, last: $last, before: $before, view: $view, listId: $listId, filter: $filter, order: $order) {
    edges { cursor node { ...Fields } } pageInfo { hasNextPage endCursor hasPreviousPage } unread { count isExact } state liveCursor ${withTotal ? 'total { count isExact }' : ''} } } ${fragment(fields)}`;
}

function fragment(fields: string): string {
  return `fragment Fields on NewsfeedItem { ${fields} }`;
}
