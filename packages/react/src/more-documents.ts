// What `@fanfare/react/more` asks for.

import {
  INTERACTION_FIELDS,
  itemFields,
  PERSON_FIELDS,
  type ClientFields,
  type Fields,
} from '@fanfare/client';
import { ACTION_FIELDS, feedItemFields } from './item.ts';

const PAGE_INFO = 'pageInfo { hasNextPage endCursor }';
const SHOWN = ({ action = '' }: ClientFields): string =>
  `fragment Shown on Action { ${ACTION_FIELDS} ${action} }`;
const ACTIONS = `edges { node { ...Shown } } ${PAGE_INFO}`;
const own =
  (field: string) =>
  (fields: ClientFields): string =>
    `query Own($first: Int, $after: String) { viewer { ${field}(first: $first, after: $after) { ${ACTIONS} } } }
  ${SHOWN(fields)}`;

export const slice = (
  fields: ClientFields,
): string => `query Slice($refId: String!, $first: Int, $filter: ActionFilter, $after: String) {
  slice(refId: $refId, first: $first, filter: $filter, after: $after) { ${ACTIONS} } } ${SHOWN(fields)}`;
export const bookmarks = own('bookmarks');
export const hiddenItems = own('hiddenItems');
export const inReview = (fields: ClientFields): string =>
  `query InReview { viewer { actionsInReview { ...Shown } } } ${SHOWN(fields)}`;
export const groups = (
  fields: ClientFields,
): string => `query Groups($first: Int, $view: String, $listId: ID, $filter: FeedFilter, $after: String) {
  feedGroups(first: $first, view: $view, listId: $listId, filter: $filter, after: $after) {
    edges { node { id relevancy isUnread summary summaryParts { text member { memberId } ref { refId } }
      count { count isExact } actors(first: 3) { ${PERSON_FIELDS} }
      items(first: 3) { ${itemFields({ base: feedItemFields, ...fields })} } } }
    ${PAGE_INFO} unread { count isExact } } }`;
export const EXPLAIN = `query Explain($actionId: ID!, $memberId: String) {
  explainFeedItem(actionId: $actionId, memberId: $memberId) { isInFeed isEntitled path relevancy
    addressedBy { reason via since until } withheldBy causes { kind at liftedTo } } }`;

export const VIEWS =
  'query Views { viewer { views { name label isGrouped order unread { count isExact } } } }';

export const LISTS = 'query Lists { viewer { lists { id name isExclusive unread { count isExact } } } }';

export const LISTS_OF = 'query ListsOf($id: ID!) { node(id: $id) { ... on Ref { follow { listIds } } } }';

export const comments = ({ comment = '' }: Fields): string =>
  `query Comments($id: ID!, $first: Int!, $after: String) { viewer { memberId } node(id: $id) { ... on Action {
  viewer { commentsInReview { ...Said } }
  interactions(first: $first, after: $after, kinds: [COMMENT]) {
    edges { node { ...Said } } pageInfo { hasNextPage endCursor }
  } } } } fragment Said on Interaction { ${INTERACTION_FIELDS} ${comment} }`;

export const FOLLOW_STATE = `query FollowState($id: ID!) { node(id: $id) { ... on Ref { refId isFollowed followerCount } } }`;

export const BLOCK_STATE =
  'query BlockState($memberId: String!) { member(memberId: $memberId) { isBlocked } }';

export const MEMBERS = `query Members($search: String!, $first: Int) {
  members(search: $search, first: $first) { edges { node { ${PERSON_FIELDS} } } } }`;

export const MUTES =
  'query Mutes { viewer { mutes { id type phrase until member { memberId name } ref { refId label } } } }';

export const PREFERENCES = `query Preferences { viewer { notificationPreferences { kind type channel isOn isLocked }
  quietHours { from to timeZone days } mails { offReason digestsOffSince } } }`;
