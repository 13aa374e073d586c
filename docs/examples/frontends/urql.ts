import { Client, fetchExchange, gql, subscriptionExchange, type TypedDocumentNode } from '@urql/core';
import { cacheExchange, type Cache, type KeyingConfig } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import * as documents from './documents.ts';
import { POSSIBLE_TYPES } from './documents.ts';
import type { FeedEvent, FeedPage, FeedVariables, Likes } from './documents.ts';
import { orderOf } from './feed-list.ts';
import type { FeedSocket } from './feed-socket.ts';
import { applyNotificationEvent } from './urql-notifications.ts';
import { commented, LIST_UPDATES, OPTIMISTIC_BOOKMARKS, uncommented } from './urql-lists.ts';
import {
  dropLaterPages,
  edgesOf,
  endAtEmptyPage,
  nodeOf,
  orThrow,
  pageInfoOf,
  pagesOf,
  removeNode,
  type CachedPage,
} from './urql-pages.ts';

export const FEED: TypedDocumentNode<{ feed: FeedPage }, FeedVariables> = gql(documents.FEED);
export const ACTION: TypedDocumentNode<{ action: Likes | null }, { id: string }> = gql(documents.ACTION);
const FEED_EVENTS: TypedDocumentNode<{ feedEvents: FeedEvent }, FeedVariables> = gql(documents.FEED_EVENTS);
const LIKE: TypedDocumentNode<object, { actionId: string }> = gql(documents.LIKE);
const UNLIKE: TypedDocumentNode<object, { actionId: string }> = gql(documents.UNLIKE);
const EDGE = gql`
  fragment Edge on FeedEdge {
    cursor
    node {
      id
    }
  }
`;

/** Types that are parts of their parent. A group is one too: its contents depend on the filter of its list. */
const PARTS = [
  ...['ActionConnection', 'ActionViewer', 'AddressedBy', 'Count', 'Engagement', 'Erasure'],
  ...['ErasureConnection', 'ErasureEdge', 'FanOut', 'FeedConnection', 'FeedGroup', 'FeedGroupConnection'],
  ...['FeedGroupEdge', 'FeedItemExplanation', 'FeedItemPayload', 'FirstUnread', 'Follow'],
  ...['HostEventConnection', 'HostEventEdge', 'InteractionConnection'],
  ...['ReportConnection', 'ReportEdge', 'ReportEntry'],
  ...['InteractionPayload', 'LaneDepth', 'MemberConnection', 'MemberEdge', 'ModerationConnection'],
  ...['NotificationConnection', 'NotificationEdge', 'NotificationExplanation', 'NotificationPreference'],
  'NotificationSending',
  ...[
    'QuietHours',
    'ModerationEdge',
    'ModerationEntry',
    'PageInfo',
    'PublishActionError',
    'PublishActionPayload',
  ],
  ...['PublishActionResult', 'ReactionCount', 'RefConnection', 'RefEdge', 'RefRename', 'RelevancyCause'],
  ...['SummaryPart', 'Ticket', 'UnreadCount', 'WebhookDeliveryConnection', 'WebhookDeliveryEdge'],
  ...['WorkOverview', 'Sample', 'WebhookReceiver'],
];

/** The keys of graphcache. All other types have an id. */
export const KEYS: KeyingConfig = {
  ...Object.fromEntries(
    [
      ...PARTS,
      ...POSSIBLE_TYPES.FeedEvent,
      ...POSSIBLE_TYPES.NotificationEvent,
      ...POSSIBLE_TYPES.ActionDescriptor,
    ].map((type) => [type, () => null]),
  ),
  // There is one viewer, whichever query or mutation returns it.
  Viewer: () => 'viewer',
  // An edge that is put into a list has the key of its node.
  ...Object.fromEntries(
    ['FeedEdge', 'ActionEdge', 'InteractionEdge'].map((type) => [
      type,
      ({ node }) => (node as unknown as { id: string }).id,
    ]),
  ),
};

interface AddArgs {
  readonly input: { readonly actionId: string; readonly kind: string; readonly text?: string };
}

interface RemoveArgs {
  readonly input: { readonly own?: { readonly actionId: string }; readonly id?: string };
}

export function createFeedClient(url: string, getToken: () => Promise<string>, socket: FeedSocket): Client {
  return new Client({
    url,
    preferGetMethod: false,
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${await getToken()}`);
      return fetch(input, { ...init, headers });
    },
    exchanges: [
      cacheExchange({
        possibleTypes: POSSIBLE_TYPES,
        keys: KEYS,
        resolvers: {
          Query: {
            ...{ feed: relayPagination(), slice: relayPagination(), feedGroups: relayPagination() },
            // The page of an action shows at once what a list has loaded of it.
            action: (_, { id }) => ({ __typename: 'Action', id: id as string }),
          },
          Action: { interactions: relayPagination() },
          Viewer: { bookmarks: relayPagination() },
        },
        optimistic: {
          ...OPTIMISTIC_BOOKMARKS,
          addInteraction: (args, cache) => {
            const { actionId, kind, text = '' } = (args as unknown as AddArgs).input;
            return kind === 'COMMENT' ? commented(cache, actionId, text) : liked(cache, actionId, true);
          },
          removeInteraction: (args, cache) => {
            const { own, id = '' } = (args as unknown as RemoveArgs).input;
            return own === undefined ? uncommented(cache, id) : liked(cache, own.actionId, false);
          },
        },
        updates: {
          ...LIST_UPDATES,
          Query: {
            ...LIST_UPDATES.Query,
            feed: (_, args, cache) => endAtEmptyPage(cache, 'Query', 'feed', args),
          },
          Subscription: {
            feedEvents: (data, { filter }, cache) =>
              applyEvent(cache, (data as { feedEvents: FeedEvent }).feedEvents, filter),
            notificationEvents: applyNotificationEvent,
          },
        },
      }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe({ query, ...(variables && { variables }) }, sink as never),
          }),
        }),
      }),
    ],
  });
}

function applyEvent(cache: Cache, event: FeedEvent, filter: unknown): void {
  const pages = pagesOf(cache, 'Query', 'feed', { filter });
  const itemOf = (id: string) => cache.keyOfEntity({ __typename: 'NewsfeedItem', id }) ?? '';
  if ('item' in event) {
    removeNode(cache, pages, itemOf(event.item.id));
    addItem(cache, pages, event.item.id);
  }
  if (event.__typename === 'FeedItemRemoved') removeNode(cache, pages, itemOf(event.itemId));
  // `watchFeed` reads the first page again; the other pages no longer follow it.
  if (event.__typename === 'FeedResync') dropLaterPages(cache, 'Query', pages);
}

/** Puts an item of the cache in its place: into the first page that has an item below it. */
function addItem(cache: Cache, pages: readonly CachedPage[], itemId: string): void {
  const edge = { __typename: 'FeedEdge', cursor: '', node: { __typename: 'NewsfeedItem', id: itemId } };
  cache.writeFragment(EDGE, edge);
  const key = cache.keyOfEntity(edge) ?? '';
  const order = cachedOrder(cache, nodeOf(cache, key));
  for (const page of pages) {
    const edges = edgesOf(cache, page);
    const found = edges.findIndex((other) => cachedOrder(cache, nodeOf(cache, other)) < order);
    // Below everything that is loaded: the next page will bring it, unless there is none.
    const isEnd =
      page === pages.at(-1) && cache.resolve(pageInfoOf(cache, page.key), 'hasNextPage') === false;
    if (found < 0 && !isEnd) continue;
    cache.link(page.key, 'edges', edges.toSpliced(found < 0 ? edges.length : found, 0, key));
    return;
  }
}

function cachedOrder(cache: Cache, item: string): string {
  const id = cache.resolve(cache.resolve(item, 'action') as string, 'id') as string;
  return orderOf({ relevancy: cache.resolve(item, 'relevancy') as string, action: { id } });
}

/** Shown until the server responds. */
function liked(cache: Cache, id: string, hasLiked: boolean) {
  const action = { __typename: 'Action', id };
  const part = (field: string, of: string) => cache.resolve(cache.resolve(action, field) as string, of);
  const likes = Number(part('engagement', 'likes')) + Number(hasLiked) - Number(part('viewer', 'hasLiked'));
  return {
    __typename: 'InteractionPayload',
    action: {
      ...action,
      engagement: { __typename: 'Engagement', likes },
      viewer: { __typename: 'ActionViewer', hasLiked },
    },
  };
}

/** Reads the first page, or reads it again. */
export function readFirstPage(client: Client, socket: FeedSocket, variables: FeedVariables) {
  return socket.during(async () => {
    // Wait until the cache has sent its own requests: urql would take their response for this one's.
    await Promise.resolve();
    return client.query(FEED, variables, { requestPolicy: 'network-only' }).toPromise();
  });
}

export async function loadMore(client: Client, socket: FeedSocket, variables: FeedVariables) {
  const pageInfo = client.readQuery(FEED, variables)?.data?.feed.pageInfo;
  if (pageInfo?.hasNextPage !== true) return;
  const next = { ...variables, after: pageInfo.endCursor };
  await socket.during(() => client.query(FEED, next, { requestPolicy: 'network-only' }).toPromise());
}

/**
 * Keeps the list up to date, starting from the first page. Unsubscribe to stop.
 * @param onEvent is called after the list has applied an event, so that other views can follow
 */
export function watchFeed(
  client: Client,
  socket: FeedSocket,
  variables: FeedVariables,
  onEvent: (event: FeedEvent) => void = () => undefined,
) {
  const { first: _first, ...list } = variables;
  const after = client.readQuery(FEED, variables)?.data?.feed.liveCursor ?? null;
  return client.subscription(FEED_EVENTS, { ...list, after }).subscribe(({ data }) => {
    if (data === undefined) return;
    if (data.feedEvents.__typename === 'FeedResync')
      void socket.insist(() => readFirstPage(client, socket, variables).then(orThrow));
    onEvent(data.feedEvents);
  });
}

/** Shown at once; graphcache undoes it if the mutation fails. */
export function like(client: Client, socket: FeedSocket, actionId: string) {
  return socket.during(() => client.mutation(LIKE, { actionId }).toPromise());
}

export function unlike(client: Client, socket: FeedSocket, actionId: string) {
  return socket.during(() => client.mutation(UNLIKE, { actionId }).toPromise());
}
