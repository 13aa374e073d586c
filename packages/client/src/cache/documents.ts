import type { Fields } from '../fields.ts';

/** The types of interfaces and unions, for fragments on these. Descriptors are not among them: each server declares its own. */
export const POSSIBLE_TYPES = {
  Node: [
    'Action',
    'FeedGroup',
    'Interaction',
    'Member',
    'NewsfeedItem',
    'Notification',
    'ReaderList',
    'Ref',
    'Report',
  ],
  FeedEvent: [
    ...[
      'FeedReady',
      'FeedItemAdded',
      'FeedItemUpdated',
      'FeedItemRemoved',
      'FeedResync',
      'UnreadCountChanged',
    ],
  ],
  NotificationEvent: [
    ...['NotificationsReady', 'NotificationAdded', 'NotificationUpdated', 'NotificationRemoved'],
    ...['NotificationCountsChanged', 'NotificationsResync'],
  ],
  SliceEvent: ['SliceReady', 'ActionAdded', 'ActionUpdated', 'ActionRemoved', 'SliceResync'],
  ActionEvent: [
    ...['ActionReady', 'ActionChanged', 'ActionGone', 'ActionResync'],
    ...['InteractionAdded', 'InteractionUpdated', 'InteractionRemoved'],
  ],
};

const PAGE_INFO = 'pageInfo { hasNextPage endCursor }';

/**
 * The operations of a cache. Pages, events and mutations select the same of an object, so that each can replace the other.
 * A cache adds `__typename` itself.
 */
export function cacheDocuments({
  action = 'descriptor { type summary }',
  item = '',
  comment = '',
  notification = '',
}: Fields = {}) {
  const row = `fragment ActionFields on Action { id conducted engagement { likes comments }
    viewer { hasLiked isBookmarked } ${action} }`;
  const entry = `fragment ItemFields on NewsfeedItem { id relevancy isUnread action { ...ActionFields } ${item} } ${row}`;
  const said = `fragment CommentFields on Interaction { id text at state action { id } ${comment} }`;
  const notified = `fragment NotificationFields on Notification { id kind at isSeen isRead summary action { id }
    ${notification} }`;
  const liked = 'action { id engagement { likes } viewer { hasLiked } }';
  const commented = 'action { id engagement { comments } }';
  return {
    row,
    said,
    feed: `query Feed($first: Int, $after: String, $last: Int, $before: String, $view: String, $listId: ID, $filter: FeedFilter) {
      feed(first: $first, after: $after, last: $last, before: $before, view: $view, listId: $listId, filter: $filter) {
      edges { cursor node { ...ItemFields } } pageInfo { hasNextPage endCursor hasPreviousPage startCursor } liveCursor } } ${entry}`,
    firstUnread: `query FirstUnread($view: String, $listId: ID) {
      viewer { firstUnread(view: $view, listId: $listId) { cursor } } }`,
    feedEvents: `subscription FeedEvents($after: String, $view: String, $listId: ID, $filter: FeedFilter) {
      feedEvents(after: $after, view: $view, listId: $listId, filter: $filter) { __typename cursor
      ... on FeedItemAdded { item { ...ItemFields } } ... on FeedItemUpdated { item { ...ItemFields } }
      ... on FeedItemRemoved { itemId } ... on FeedResync { reason } } } ${entry}`,
    notifications: `query Notifications($first: Int) { notifications(first: $first) {
      edges { cursor node { ...NotificationFields } } unseen { count isExact } liveCursor } } ${notified}`,
    notificationEvents: `subscription NotificationEvents($after: String) { notificationEvents(after: $after) { __typename
      ... on NotificationsReady { cursor } ... on NotificationsResync { cursor reason }
      ... on NotificationAdded { cursor notification { ...NotificationFields } }
      ... on NotificationUpdated { cursor notification { ...NotificationFields } }
      ... on NotificationRemoved { cursor notificationId }
      ... on NotificationCountsChanged { cursor unseen { count isExact } } } } ${notified}`,
    slice: `query Slice($refId: String!, $filter: ActionFilter, $first: Int, $after: String) {
      slice(refId: $refId, filter: $filter, first: $first, after: $after) {
      edges { cursor node { ...ActionFields } } ${PAGE_INFO} } } ${row}`,
    // What they tell is read again: of a slice and a thread each event has its own part.
    sliceEvents: `subscription SliceEvents($after: String, $refId: String!, $filter: ActionFilter) {
      sliceEvents(after: $after, refId: $refId, filter: $filter) { __typename ... on SliceReady { cursor }
      ... on SliceResync { cursor reason } ... on ActionAdded { cursor } ... on ActionUpdated { cursor }
      ... on ActionRemoved { cursor } } }`,
    commentsEvents: `subscription CommentEvents($after: String, $actionId: ID!) {
      actionEvents(after: $after, actionId: $actionId) { __typename ... on ActionReady { cursor }
      ... on ActionResync { cursor reason } ... on ActionChanged { cursor } ... on ActionGone { cursor }
      ... on InteractionAdded { cursor } ... on InteractionUpdated { cursor } ... on InteractionRemoved { cursor } } }`,
    bookmarks: `query Bookmarks($first: Int, $after: String) { viewer { bookmarks(first: $first, after: $after) {
      edges { cursor node { ...ActionFields } } ${PAGE_INFO} } } } ${row}`,
    // Comments on the action itself, without replies.
    comments: `query Comments($actionId: ID!, $first: Int, $after: String) { action(id: $actionId) { id
      viewer { commentsInReview { ...CommentFields } } interactions(kinds: [COMMENT], parentId: null, first: $first, after: $after) {
      edges { cursor node { ...CommentFields } } ${PAGE_INFO} } } } ${said}`,
    // A group shows its top item.
    groups: `query Groups($view: String, $listId: ID, $filter: FeedFilter, $first: Int, $after: String) {
      feedGroups(view: $view, listId: $listId, filter: $filter, first: $first, after: $after) { edges { cursor node { id relevancy count { count }
      items(first: 1) { ...ItemFields } } } ${PAGE_INFO} } } ${entry}`,
    like: `mutation Like($input: RecordInteractionInput!) { addInteraction(input: $input) { ${liked} } }`,
    unlike: `mutation Unlike($input: RemoveInteractionInput!) { removeInteraction(input: $input) { ${liked} } }`,
    bookmark: `mutation Bookmark($actionId: ID!) { bookmark(actionId: $actionId) { ...ActionFields } } ${row}`,
    unbookmark: `mutation Unbookmark($actionId: ID!) {
      unbookmark(actionId: $actionId) { id viewer { isBookmarked } } }`,
    comment: `mutation Comment($input: RecordInteractionInput!) { addInteraction(input: $input) {
      interaction { ...CommentFields } ${commented} } } ${said}`,
    removeComment: `mutation RemoveComment($input: RemoveInteractionInput!) { removeInteraction(input: $input) {
      interaction { id } ${commented} } }`,
    // Afterwards the server sends NotificationsResync: the list is read again, and nothing is new in it.
    markSeen: `mutation MarkSeen($upTo: DateTime!) { markNotificationsSeen(upTo: $upTo) { memberId } }`,
  };
}
