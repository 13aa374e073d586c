import {
  ApolloClient,
  ApolloLink,
  gql,
  HttpLink,
  InMemoryCache,
  type FieldPolicy,
  type Reference,
  type TypedDocumentNode,
} from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode } from 'graphql';
import * as documents from './documents.ts';
import type { FeedEvent, FeedPage, FeedVariables, Likes } from './documents.ts';
import { withItem, withoutItem } from './feed-list.ts';
import type { FeedSocket } from './feed-socket.ts';

export const FEED: TypedDocumentNode<{ feed: FeedPage }, FeedVariables> = gql(documents.FEED);
export const ACTION: TypedDocumentNode<{ action: Likes | null }, { id: string }> = gql(documents.ACTION);
const FEED_EVENTS: TypedDocumentNode<{ feedEvents: FeedEvent }, FeedVariables> = gql(documents.FEED_EVENTS);
const LIKE: TypedDocumentNode<{ addInteraction: LikePayload }, { actionId: string }> = gql(documents.LIKE);
const UNLIKE: TypedDocumentNode<{ removeInteraction: LikePayload }, { actionId: string }> = gql(
  documents.UNLIKE,
);

interface LikePayload {
  readonly __typename: 'InteractionPayload';
  readonly action: Likes;
}

/** A page in the cache: its edges refer to items. */
interface CachedPage {
  readonly edges?: readonly { readonly node: Reference }[];
}

/** A list that is loaded page by page. @param keyArgs the arguments that identify the list */
function pages(keyArgs: readonly string[] | false): FieldPolicy<CachedPage> {
  return {
    keyArgs: keyArgs === false ? false : [...keyArgs],
    merge(existing, incoming, { args, readField }) {
      // A query of the unread count alone returns no edges.
      if (incoming.edges === undefined) return { ...existing, ...incoming };
      if (args?.['after'] == null) return { ...existing, ...incoming };
      // Items move while the reader pages: each stays only where the newest page has it.
      const incomingIds = new Set(incoming.edges.map(({ node }) => readField('id', node)));
      const before = existing?.edges?.filter(({ node }) => !incomingIds.has(readField('id', node))) ?? [];
      return { ...existing, ...incoming, edges: [...before, ...incoming.edges] };
    },
  };
}

export function createFeedClient(url: string, getToken: () => Promise<string>, socket: FeedSocket) {
  const http = new SetContextLink(async () => ({
    headers: { authorization: `Bearer ${await getToken()}` },
  })).concat(new HttpLink({ uri: url }));
  return new ApolloClient({
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink(socket),
      http,
    ),
    cache: new InMemoryCache({
      possibleTypes: documents.POSSIBLE_TYPES,
      typePolicies: {
        // There is one viewer, whichever query or mutation returns it.
        Viewer: { keyFields: [], fields: { bookmarks: pages(false) } },
        // The contents of a group depend on the filter of its list.
        FeedGroup: { keyFields: false },
        // Parts of the action: each query selects some of their fields.
        Action: {
          fields: {
            ...{ engagement: { merge: true }, viewer: { merge: true }, descriptor: { merge: true } },
            interactions: pages(['kinds', 'parentId']),
          },
        },
        Query: {
          fields: {
            feed: pages(['filter', 'order']),
            slice: pages(['refId', 'filter']),
            feedGroups: pages(['filter']),
            // The page of an action shows at once what a list has loaded of it.
            action: (_, { args, toReference }) =>
              toReference({ __typename: 'Action', id: String(args?.['id']) }),
          },
        },
      },
    }),
  });
}

/** Reads the first page, which replaces everything that was loaded. */
export function readFirstPage(client: ApolloClient, socket: FeedSocket, variables: FeedVariables) {
  return socket.during(() => client.query({ query: FEED, variables, fetchPolicy: 'network-only' }));
}

export async function loadMore(client: ApolloClient, socket: FeedSocket, variables: FeedVariables) {
  const pageInfo = client.readQuery({ query: FEED, variables })?.feed.pageInfo;
  if (pageInfo?.hasNextPage !== true) return;
  const next = { ...variables, after: pageInfo.endCursor };
  await socket.during(() => client.query({ query: FEED, variables: next, fetchPolicy: 'network-only' }));
}

/**
 * Keeps the list up to date, starting from the first page. Unsubscribe to stop.
 * @param onEvent is called after the list has applied an event, so that other views can follow
 */
export function watchFeed(
  client: ApolloClient,
  socket: FeedSocket,
  variables: FeedVariables,
  onEvent: (event: FeedEvent) => void = () => undefined,
) {
  const change = (update: (feed: FeedPage) => FeedPage): void => {
    client.cache.updateQuery({ query: FEED, variables }, (data) =>
      data === null ? undefined : { feed: update(data.feed) },
    );
  };
  const { first: _first, ...list } = variables;
  const after = client.readQuery({ query: FEED, variables })?.feed.liveCursor ?? null;
  return client.subscribe({ query: FEED_EVENTS, variables: { ...list, after } }).subscribe(({ data }) => {
    const event = data?.feedEvents;
    if (event === undefined) return;
    if ('item' in event) change((list) => withItem(list, event.item));
    if (event.__typename === 'FeedItemRemoved') change((list) => withoutItem(list, event.itemId));
    if (event.__typename === 'FeedResync') void socket.insist(() => readFirstPage(client, socket, variables));
    onEvent(event);
  });
}

/** Shown at once; Apollo Client undoes it if the mutation fails. */
export function like(client: ApolloClient, socket: FeedSocket, action: Likes) {
  return socket.during(() =>
    client.mutate({
      mutation: LIKE,
      variables: { actionId: action.id },
      optimisticResponse: {
        addInteraction: { __typename: 'InteractionPayload', action: liked(action, true) },
      },
    }),
  );
}

export function unlike(client: ApolloClient, socket: FeedSocket, action: Likes) {
  return socket.during(() =>
    client.mutate({
      mutation: UNLIKE,
      variables: { actionId: action.id },
      optimisticResponse: {
        removeInteraction: { __typename: 'InteractionPayload', action: liked(action, false) },
      },
    }),
  );
}

function liked({ id, engagement, viewer }: Likes, hasLiked: boolean): Likes {
  const likes = engagement.likes + Number(hasLiked) - Number(viewer.hasLiked);
  return {
    ...{ __typename: 'Action', id },
    engagement: { __typename: 'Engagement', likes },
    viewer: { __typename: 'ActionViewer', hasLiked },
  };
}
