// What the package asks for beside what the client does itself.

import { INTERACTION_FIELDS, PERSON_FIELDS, type Fields } from '@fanfare/client';

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

export const UNREAD_COUNT = 'query UnreadCount { viewer { unreadCount { count isExact } } }';

export const FIRST_UNREAD = 'query FirstUnread { viewer { firstUnread { cursor isExact item { id } } } }';

/** Whose a token is: no two readers have both. */
export const WHO = 'query Who { viewer { tenant memberId } }';
