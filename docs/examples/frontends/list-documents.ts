/** The fields of an action that a row shows. All lists of actions select the same ones. */
const ACTION_FIELDS = /* GraphQL */ `
  fragment ActionFields on Action {
    id
    conducted
    descriptor {
      summary
    }
    engagement {
      likes
      comments
    }
    viewer {
      hasLiked
      isBookmarked
    }
  }
`;

const PAGE_INFO = /* GraphQL */ `
  fragment PageFields on PageInfo {
    hasNextPage
    endCursor
  }
`;

export const SLICE = /* GraphQL */ `
  query Slice($refId: String!, $filter: ActionFilter, $first: Int, $after: String) {
    slice(refId: $refId, filter: $filter, first: $first, after: $after) {
      edges {
        cursor
        node {
          ...ActionFields
        }
      }
      pageInfo {
        ...PageFields
      }
    }
  }
  ${ACTION_FIELDS}
  ${PAGE_INFO}
`;

export const BOOKMARKS = /* GraphQL */ `
  query Bookmarks($first: Int, $after: String) {
    viewer {
      bookmarks(first: $first, after: $after) {
        edges {
          cursor
          node {
            ...ActionFields
          }
        }
        pageInfo {
          ...PageFields
        }
      }
    }
  }
  ${ACTION_FIELDS}
  ${PAGE_INFO}
`;

const COMMENT_FIELDS = /* GraphQL */ `
  fragment CommentFields on Interaction {
    id
    text
    at
    action {
      id
    }
  }
`;

/** Comments on the action itself, without replies. */
export const COMMENTS = /* GraphQL */ `
  query Comments($actionId: ID!, $first: Int, $after: String) {
    action(id: $actionId) {
      id
      interactions(kinds: [COMMENT], parentId: null, first: $first, after: $after) {
        edges {
          cursor
          node {
            ...CommentFields
          }
        }
        pageInfo {
          ...PageFields
        }
      }
    }
  }
  ${COMMENT_FIELDS}
  ${PAGE_INFO}
`;

/** A group shows its top item. */
export const GROUPS = /* GraphQL */ `
  query Groups($filter: FeedFilter, $first: Int, $after: String) {
    feedGroups(filter: $filter, first: $first, after: $after) {
      edges {
        cursor
        node {
          id
          relevancy
          count {
            count
          }
          items(first: 1) {
            id
            action {
              ...ActionFields
            }
          }
        }
      }
      pageInfo {
        ...PageFields
      }
    }
  }
  ${ACTION_FIELDS}
  ${PAGE_INFO}
`;

const BOOKMARKED = /* GraphQL */ `
  fragment Bookmarked on Action {
    id
    viewer {
      isBookmarked
    }
  }
`;

export const BOOKMARK = /* GraphQL */ `
  mutation Bookmark($actionId: ID!) {
    bookmark(actionId: $actionId) {
      ...ActionFields
    }
  }
  ${ACTION_FIELDS}
`;

export const UNBOOKMARK = /* GraphQL */ `
  mutation Unbookmark($actionId: ID!) {
    unbookmark(actionId: $actionId) {
      ...Bookmarked
    }
  }
  ${BOOKMARKED}
`;

export const COMMENT = /* GraphQL */ `
  mutation Comment($actionId: ID!, $text: String!) {
    addInteraction(input: { actionId: $actionId, kind: COMMENT, text: $text }) {
      interaction {
        ...CommentFields
      }
      action {
        id
        engagement {
          comments
        }
      }
    }
  }
  ${COMMENT_FIELDS}
`;

export const REMOVE_COMMENT = /* GraphQL */ `
  mutation RemoveComment($id: ID!) {
    removeInteraction(input: { id: $id }) {
      interaction {
        id
      }
      action {
        id
        engagement {
          comments
        }
      }
    }
  }
`;

export interface Row {
  readonly __typename: 'Action';
  readonly id: string;
  readonly conducted: string;
  readonly descriptor: { readonly summary: string };
  readonly engagement: {
    readonly __typename: 'Engagement';
    readonly likes: number;
    readonly comments: number;
  };
  readonly viewer: {
    readonly __typename: 'ActionViewer';
    readonly hasLiked: boolean;
    readonly isBookmarked: boolean;
  };
}

export interface Comment {
  readonly __typename: 'Interaction';
  readonly id: string;
  readonly text: string | null;
  readonly at: string;
  readonly action: { readonly __typename: 'Action'; readonly id: string };
}

export interface Group {
  readonly __typename: 'FeedGroup';
  readonly id: string;
  readonly relevancy: string;
  readonly count: { readonly count: number };
  readonly items: readonly { readonly id: string; readonly action: Row }[];
}

export interface Connection<Node> {
  readonly edges: readonly { readonly cursor: string; readonly node: Node }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** The response of one of the queries. */
export interface ListAnswer {
  readonly slice?: Connection<Row>;
  readonly viewer?: { readonly bookmarks: Connection<Row> };
  readonly action?: { readonly interactions: Connection<Comment> } | null;
  readonly feedGroups?: Connection<Group>;
}

/** The list in a response. */
export function listIn(answer: ListAnswer): Connection<Row | Comment | Group> | undefined {
  const { slice, viewer, action, feedGroups } = answer;
  return slice ?? viewer?.bookmarks ?? action?.interactions ?? feedGroups;
}

export const LISTS = { slice: SLICE, bookmarks: BOOKMARKS, comments: COMMENTS, groups: GROUPS } as const;

export type ListName = keyof typeof LISTS;

/** Which list, and which part of it. */
export interface ListVariables {
  readonly refId?: string;
  readonly actionId?: string;
  readonly filter?: object;
  readonly first?: number;
  readonly after?: string | null;
}
