/** A page with what the action itself says. */
export const LEAN_PAGE = `query Page($first: Int!) {
  feed(first: $first) {
    edges {
      cursor
      node {
        id relevancy reasons isUnread
        action { id conducted scope descriptor { type tags } engagement { comments likes reshares lastInteraction } }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`;

/** A page as a frontend shows it: with who did it, the labels of what it was about and a line of words. */
export const SHOWN_PAGE = `query Page($first: Int!) {
  feed(first: $first) {
    edges {
      cursor
      node {
        id relevancy reasons isUnread
        action {
          id conducted scope
          actor { memberId name }
          refs { refId type label }
          descriptor { type summary tags }
          engagement { comments likes reshares lastInteraction }
        }
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

/** A first page for which nothing is asked ahead of what the reader was last shown: one with a bound is not. */
export const BOUNDED_PAGE = SHOWN_PAGE.replace(
  '(first: $first)',
  '(first: $first, filter: { since: "2000-01-01T00:00:00Z" })',
);

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

/** Publishes actions whose delivery nobody waits for. */
export const IMPORT = `mutation Import($inputs: [PublishActionInput!]!) {
  publishActions(inputs: $inputs, isBulk: true) { action { id } }
}`;

/** Takes an action out of all feeds. */
export const HIDE = `mutation Hide($id: ID!) {
  hideAction(id: $id) { id }
}`;

/** Which actions came, changed and went. */
export const WATCH_CHANGES = `subscription WatchChanges {
  feedEvents {
    __typename
    ... on FeedItemAdded { item { action { id } } }
    ... on FeedItemUpdated { item { action { id } } }
    ... on FeedItemRemoved { actionId }
    cursor
  }
}`;
