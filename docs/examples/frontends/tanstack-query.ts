import type { InfiniteData, QueryClient, QueryKey } from '@tanstack/query-core';
import * as documents from './documents.ts';
import type { FeedEvent, FeedItem, FeedPage, FeedVariables, Likes } from './documents.ts';
import { withItem, withoutItem } from './feed-list.ts';
import type { FeedSocket } from './feed-socket.ts';

/** Sends an operation. Rejects if the response contains an error. */
export type Request = <T>(query: string, variables: object) => Promise<T>;

export function createRequest(url: string, getToken: () => Promise<string>): Request {
  return async <T>(query: string, variables: object) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await getToken()}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as { data: T; errors?: { message: string }[] };
    if (errors !== undefined) throw new Error(errors.map(({ message }) => message).join('\n'));
    return data;
  };
}

type Pages = InfiniteData<FeedPage, string | null>;

const keyOf = ({ filter }: FeedVariables): QueryKey => ['feed', filter ?? null];

/**
 * For `useInfiniteQuery`. Events keep the list fresh. Load more with `socket.during(() => fetchNextPage())`, so that
 * events during the request are applied after the page.
 */
export function feedOptions(request: Request, variables: FeedVariables) {
  return {
    queryKey: keyOf(variables),
    initialPageParam: null as string | null,
    queryFn: async ({ pageParam }: { pageParam: string | null }) => {
      const { feed } = await request<{ feed: FeedPage }>(documents.FEED, { ...variables, after: pageParam });
      return feed;
    },
    getNextPageParam: ({ pageInfo }: FeedPage) => (pageInfo.hasNextPage ? pageInfo.endCursor : undefined),
    select: oneList,
    staleTime: Infinity,
  };
}

/** All pages as one; each item only where the newest page has it. */
function oneList({ pages }: Pages): FeedPage | undefined {
  return pages.reduce<FeedPage | undefined>((before, page) => {
    const ids = new Set(page.edges.map(({ node }) => node.id));
    const edges = before?.edges.filter(({ node }) => !ids.has(node.id)) ?? [];
    return { ...page, edges: [...edges, ...page.edges] };
  }, undefined);
}

function change(client: QueryClient, variables: FeedVariables, update: (feed: FeedPage) => FeedPage): void {
  client.setQueryData<Pages>(keyOf(variables), (data) => {
    const feed = data && oneList(data);
    return feed && { pages: [update(feed)], pageParams: [null] };
  });
}

/** Keeps the list up to date, starting from the first page. Call the returned function to stop. */
export function watchFeed(
  client: QueryClient,
  socket: FeedSocket,
  variables: FeedVariables,
  onError: (error: unknown) => void,
): () => void {
  const key = { queryKey: keyOf(variables) };
  const { first: _first, ...list } = variables;
  const after = client.getQueryData<Pages>(key.queryKey)?.pages[0]?.liveCursor;
  const apply = (event: FeedEvent): void => {
    if ('item' in event) change(client, variables, (feed) => withItem(feed, event.item));
    if (event.__typename === 'FeedItemRemoved')
      change(client, variables, (feed) => withoutItem(feed, event.itemId));
    if (event.__typename !== 'FeedResync') return;
    // The pages have become one: read the first page again instead of each.
    change(client, variables, (feed) => feed);
    void socket.insist(() => client.refetchQueries(key, { throwOnError: true }));
  };
  return socket.subscribe<{ feedEvents: FeedEvent }>(
    { query: documents.FEED_EVENTS, variables: { ...list, after } },
    { next: ({ data }) => data && apply(data.feedEvents), error: onError, complete: () => undefined },
  );
}

interface Like {
  readonly client: QueryClient;
  readonly socket: FeedSocket;
  readonly request: Request;
  readonly variables: FeedVariables;
}

/** Adds or removes a like: shown at once, undone on failure. Events wait meanwhile, so undoing hides nothing newer. */
export function setLiked({ client, socket, request, variables }: Like, action: Likes, hasLiked: boolean) {
  const show = (likes: Likes): void =>
    change(client, variables, (feed) => ({
      ...feed,
      edges: feed.edges.map((edge) => ({ ...edge, node: withLikes(edge.node, likes) })),
    }));
  return socket.during(async () => {
    show(liked(action, hasLiked));
    try {
      const document = hasLiked ? documents.LIKE : documents.UNLIKE;
      const answer = await request<Record<string, { action: Likes }>>(document, { actionId: action.id });
      for (const payload of Object.values(answer)) show(payload.action);
    } catch (error) {
      show(action);
      throw error;
    }
  });
}

function withLikes(item: FeedItem, { id, engagement, viewer }: Likes): FeedItem {
  const { action } = item;
  if (action.id !== id) return item;
  return {
    ...item,
    action: {
      ...action,
      engagement: { ...action.engagement, ...engagement },
      viewer: { ...action.viewer, ...viewer },
    },
  };
}

function liked(action: Likes, hasLiked: boolean): Likes {
  const likes = action.engagement.likes + Number(hasLiked) - Number(action.viewer.hasLiked);
  return { ...action, engagement: { ...action.engagement, likes }, viewer: { ...action.viewer, hasLiked } };
}
