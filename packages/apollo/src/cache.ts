import { InMemoryCache, type FieldPolicy, type Reference } from '@apollo/client';
import { POSSIBLE_TYPES, type Starts } from '@fanfare/client/cache';

/** A page in the cache: its edges refer to items. */
interface Page {
  readonly edges?: readonly { readonly node: Reference }[];
  readonly pageInfo?: object;
}

interface PageInfo {
  readonly hasNextPage?: boolean;
  readonly endCursor?: string | null;
  readonly hasPreviousPage?: boolean;
  readonly startCursor?: string | null;
}

/** The ends of what two pages are together. */
function joined(upper: PageInfo = {}, lower: PageInfo = {}): PageInfo {
  const { hasPreviousPage, startCursor } = upper;
  return {
    ...lower,
    ...(hasPreviousPage !== undefined && { hasPreviousPage }),
    ...(startCursor !== undefined && { startCursor }),
  };
}

/** A list that is loaded page by page. @param keyArgs the arguments that identify the list */
function pages(keyArgs: string[] | false, starts?: Starts): FieldPolicy<Page> {
  return {
    keyArgs,
    merge(existing, incoming, { args, readField }) {
      const { after, before } = (args ?? {}) as { after?: string | null; before?: string | null };
      const isFirst = before == null && (after == null || starts?.has(after) === true);
      // A query of the unread count alone returns no edges.
      if (incoming.edges === undefined || isFirst) return { ...existing, ...incoming };
      // Items move while the reader pages: each stays only where the newest page has it.
      const incomingIds = new Set(incoming.edges.map(({ node }) => readField('id', node)));
      const others = existing?.edges?.filter(({ node }) => !incomingIds.has(readField('id', node))) ?? [];
      const [upper, lower] = before == null ? [existing, incoming] : [incoming, existing];
      const edges = before == null ? [...others, ...incoming.edges] : [...incoming.edges, ...others];
      return { ...existing, ...incoming, edges, pageInfo: joined(upper?.pageInfo, lower?.pageInfo) };
    },
  };
}

/** What keeps apart and together what a server's answers have. */
/** @param starts where lists begin that do not begin at the top */
export function createCache(starts: Starts): InMemoryCache {
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
          feed: pages(['view', 'listId', 'filter', 'order'], starts),
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
