/** The fields of an item that the screen shows. Pages and events select the same ones, so either can replace the other. */
const ITEM_FIELDS = /* GraphQL */ `
  fragment ItemFields on NewsfeedItem {
    id
    relevancy
    isUnread
    action {
      id
      descriptor {
        type
        summary
      }
      engagement {
        likes
        comments
      }
      viewer {
        hasLiked
      }
    }
  }
`;

export const FEED = /* GraphQL */ `
  query Feed($first: Int, $after: String, $filter: FeedFilter) {
    feed(first: $first, after: $after, filter: $filter) {
      edges {
        cursor
        node {
          ...ItemFields
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      liveCursor
    }
  }
  ${ITEM_FIELDS}
`;

export const FEED_EVENTS = /* GraphQL */ `
  subscription FeedEvents($after: String, $filter: FeedFilter) {
    feedEvents(after: $after, filter: $filter) {
      __typename
      cursor
      ... on FeedItemAdded {
        item {
          ...ItemFields
        }
      }
      ... on FeedItemUpdated {
        item {
          ...ItemFields
        }
      }
      ... on FeedItemRemoved {
        itemId
      }
      ... on FeedResync {
        reason
      }
    }
  }
  ${ITEM_FIELDS}
`;

/** The fields of an action that a like changes. */
const LIKES = /* GraphQL */ `
  fragment Likes on Action {
    id
    engagement {
      likes
    }
    viewer {
      hasLiked
    }
  }
`;

export const LIKE = /* GraphQL */ `
  mutation Like($actionId: ID!) {
    addInteraction(input: { actionId: $actionId, kind: LIKE }) {
      action {
        ...Likes
      }
    }
  }
  ${LIKES}
`;

export const UNLIKE = /* GraphQL */ `
  mutation Unlike($actionId: ID!) {
    removeInteraction(input: { own: { actionId: $actionId, kind: LIKE } }) {
      action {
        ...Likes
      }
    }
  }
  ${LIKES}
`;

/** One action, for its own page. */
export const ACTION = /* GraphQL */ `
  query Action($id: ID!) {
    action(id: $id) {
      ...Likes
    }
  }
  ${LIKES}
`;

/** The fields of an action that a like changes. */
export interface Likes {
  readonly __typename: 'Action';
  readonly id: string;
  readonly engagement: { readonly __typename: 'Engagement'; readonly likes: number };
  readonly viewer: { readonly __typename: 'ActionViewer'; readonly hasLiked: boolean };
}

export interface FeedItem {
  readonly __typename: 'NewsfeedItem';
  readonly id: string;
  readonly relevancy: string;
  readonly isUnread: boolean;
  readonly action: Likes & {
    readonly descriptor: { readonly type: string; readonly summary: string };
    readonly engagement: Likes['engagement'] & { readonly comments: number };
  };
}

export interface FeedPage {
  readonly __typename: 'FeedConnection';
  readonly edges: readonly {
    readonly __typename: 'FeedEdge';
    readonly cursor: string;
    readonly node: FeedItem;
  }[];
  readonly pageInfo: {
    readonly __typename: 'PageInfo';
    readonly hasNextPage: boolean;
    readonly endCursor: string | null;
  };
  readonly liveCursor: string;
}

export type FeedEvent = { readonly cursor: string } & (
  | { readonly __typename: 'FeedReady' }
  | { readonly __typename: 'FeedItemAdded' | 'FeedItemUpdated'; readonly item: FeedItem }
  | { readonly __typename: 'FeedItemRemoved'; readonly itemId: string }
  | { readonly __typename: 'FeedResync'; readonly reason: string }
);

/** Which feed, and which part of it: the next page begins after the cursor of the last one. */
export interface FeedVariables {
  readonly first?: number;
  readonly after?: string | null;
  readonly filter?: object;
}
