// What the package asks for beside what the client does itself.

import { INTERACTION_FIELDS, type Fields } from '@fanfare/client';

export const comments = ({ comment = '' }: Fields): string =>
  `query Comments($id: ID!, $first: Int!, $after: String) { node(id: $id) { ... on Action {
  viewer { commentsInReview { ...Said } }
  interactions(first: $first, after: $after, kinds: [COMMENT]) {
    edges { node { ...Said } } pageInfo { hasNextPage endCursor }
  } } } } fragment Said on Interaction { ${INTERACTION_FIELDS} ${comment} }`;

/** By its node: as a ref it has been found only when the host described it, and people are followed too. */
export const FOLLOW_STATE = `query FollowState($id: ID!) { node(id: $id) { ... on Ref { refId isFollowed followerCount } } }`;

export const UNREAD_COUNT = 'query UnreadCount { viewer { unreadCount { count isExact } } }';

export const FIRST_UNREAD = 'query FirstUnread { viewer { firstUnread { isExact item { id } } } }';

/** Whose a token is: no two readers have both. */
export const WHO = 'query Who { viewer { tenant memberId } }';
