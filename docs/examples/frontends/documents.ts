/** What the screen shows of an item. Pages and events select the same, so that each brings what the other shows. */
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

/** What a like changes of an action. */
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

/** One action, as a page of its own shows it. */
export const ACTION = /* GraphQL */ `
  query Action($id: ID!) {
    action(id: $id) {
      ...Likes
    }
  }
  ${LIKES}
`;

/** Which types an interface stands for: what fragments on it match. `fragment-matcher` of the code generator makes such a list. */
export const POSSIBLE_TYPES = {
  Node: ['Action', 'FeedGroup', 'Interaction', 'Member', 'NewsfeedItem', 'Ref'],
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
  ActionDescriptor: [
    ...['ApplicantHiredDescriptor', 'ApplicantRatingRequestedDescriptor', 'ApplicationRatingDescriptor'],
    ...['CommentedDescriptor', 'CustomDescriptor', 'FollowedDescriptor', 'LikedDescriptor'],
    ...['NewApplicantDescriptor', 'PostedDescriptor', 'UnknownDescriptor'],
  ],
};

/** What a like changes of an action. */
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

/** Which feed; the cursor of the last page says where the next begins. */
export interface FeedVariables {
  readonly first?: number;
  readonly after?: string | null;
  readonly filter?: object;
}
