import { SHOWN_ACTION } from '../harness/watcher.ts';

export const SHOWN_NODE = `id relevancy reasons isUnread
        action {
          ${SHOWN_ACTION}
        }`;

/** A page of such items. */
export const SHOWN_PAGE = `query Page($first: Int!) {
  feed(first: $first) {
    edges {
      cursor
      node {
        ${SHOWN_NODE}
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`;

/** Publishes one action. */
export const PUBLISH = `mutation Publish($input: PublishActionInput!) {
  publishAction(input: $input) { action { id } isReplay }
}`;

/** Publishes many actions at once. */
export const PUBLISH_MANY = `mutation PublishMany($inputs: [PublishActionInput!]!) {
  publishActions(inputs: $inputs) { action { id } }
}`;

/** A further page as a frontend shows it. */
export const NEXT_PAGE = SHOWN_PAGE.replace('($first: Int!)', '($first: Int!, $after: String!)').replace(
  'feed(first: $first)',
  'feed(first: $first, after: $after)',
);

/** A like or a comment. */
export const INTERACT = `mutation Interact($input: RecordInteractionInput!) {
  addInteraction(input: $input) { action { id engagement { comments likes } } }
}`;

/** Follows a thing, with what is new of it. */
export const FOLLOW = `mutation Follow($refId: String!) {
  follow(refId: $refId) { refId isFollowed }
}`;

/** Follows for others. */
export const FOLLOW_MANY = 'mutation FollowMany($pairs: [FollowInput!]!) { followMany(pairs: $pairs) }';

/** Bookmarks an action. */
export const BOOKMARK = 'mutation Bookmark($actionId: ID!) { bookmark(actionId: $actionId) { id } }';
