import { InMemoryCache, type FieldPolicy, type Reference } from '@apollo/client';
import { POSSIBLE_TYPES } from '@fanfare/client/cache';

/** A page in the cache: its edges refer to items. */
interface Page {
  readonly edges?: readonly { readonly node: Reference }[];
}

/** A list that is loaded page by page. @param keyArgs the arguments that identify the list */
function pages(keyArgs: string[] | false): FieldPolicy<Page> {
  return {
    keyArgs,
    merge(existing, incoming, { args, readField }) {
      // A query of the unread count alone returns no edges.
      if (incoming.edges === undefined || args?.['after'] == null) return { ...existing, ...incoming };
      // Items move while the reader pages: each stays only where the newest page has it.
      const incomingIds = new Set(incoming.edges.map(({ node }) => readField('id', node)));
      const before = existing?.edges?.filter(({ node }) => !incomingIds.has(readField('id', node))) ?? [];
      return { ...existing, ...incoming, edges: [...before, ...incoming.edges] };
    },
  };
}

/** What keeps apart and together what a server's answers have. */
export function createCache(): InMemoryCache {
  return new InMemoryCache({
    possibleTypes: POSSIBLE_TYPES,
    typePolicies: {
      // There is one viewer, whichever query or mutation returns it.
      Viewer: { keyFields: [], fields: { bookmarks: pages(false) } },
      // The contents of a group depend on the filter of its list.
      FeedGroup: { keyFields: false },
      ActionViewer: { fields: { commentsInReview: { merge: false } } },
      // Parts of the action: each query selects some of their fields.
      Action: {
        fields: {
          ...{ engagement: { merge: true }, viewer: { merge: true }, descriptor: { merge: true } },
          interactions: pages(['kinds', 'parentId']),
        },
      },
      Query: {
        fields: {
          feed: pages(['view', 'listId', 'filter', 'order']),
          slice: pages(['refId', 'filter']),
          feedGroups: pages(['view', 'listId', 'filter']),
          // The page of an action shows at once what a list has loaded of it.
          action: (_, { args, toReference }) =>
            toReference({ __typename: 'Action', id: String(args?.['id']) }),
        },
      },
    },
  });
}
