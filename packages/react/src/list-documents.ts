// What `@fanfare/react/more` asks for.

import { ACTION_FIELDS, feedItemFields } from './item.ts';

const PAGE_INFO = 'pageInfo { hasNextPage endCursor }';
const ACTIONS = `edges { node { ${ACTION_FIELDS} } } ${PAGE_INFO}`;
export const SLICE = `query Slice($refId: String!, $first: Int, $filter: ActionFilter, $after: String) {
  slice(refId: $refId, first: $first, filter: $filter, after: $after) { ${ACTIONS} } }`;
const OWN = (field: string): string =>
  `query Own($first: Int, $after: String) { viewer { ${field}(first: $first, after: $after) { ${ACTIONS} } } }`;
export const BOOKMARKS = OWN('bookmarks');
export const HIDDEN = OWN('hiddenItems');
export const IN_REVIEW = `query InReview { viewer { actionsInReview { ${ACTION_FIELDS} } } }`;
export const GROUPS = `query Groups($first: Int, $filter: FeedFilter, $after: String) {
  feedGroups(first: $first, filter: $filter, after: $after) {
    edges { node { id relevancy isUnread summary summaryParts { text member { memberId } ref { refId } }
      count { count isExact } actors(first: 3) { memberId name } items(first: 3) { ${feedItemFields} } } }
    ${PAGE_INFO} unread { count isExact } } }`;
const MUTE_FIELDS = 'id type phrase until member { memberId name } ref { refId label }';
export const MUTES = `query Mutes { viewer { mutes { ${MUTE_FIELDS} } } }`;
export const EXPLAIN = `query Explain($actionId: ID!, $memberId: String) {
  explainFeedItem(actionId: $actionId, memberId: $memberId) { isInFeed isEntitled path relevancy
    addressedBy { reason via since until } withheldBy causes { kind at liftedTo } } }`;
