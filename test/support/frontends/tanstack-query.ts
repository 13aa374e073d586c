import { InfiniteQueryObserver, QueryClient } from '@tanstack/query-core';
import * as recipe from '../../../docs/examples/frontends/tanstack-query.ts';
import { actionIn, shownItems, type Screen, type Setting } from './screen.ts';

export async function openTanstackQuery({
  url,
  getToken,
  openSocket,
  first,
  isLive,
}: Setting): Promise<Screen> {
  const socket = openSocket();
  const client = new QueryClient();
  const request = recipe.createRequest(url, getToken);
  const observer = new InfiniteQueryObserver(client, {
    ...recipe.feedOptions(request, { first }),
    retry: false,
  });
  const hide = observer.subscribe(() => undefined);
  await socket.during(() => observer.refetch({ cancelRefetch: false }));
  const fail = (error: unknown): never => {
    throw error;
  };
  const stop = isLive ? recipe.watchFeed(client, socket, { first }, fail) : undefined;
  const feed = () => observer.getCurrentResult().data;
  const like = { client, socket, request, variables: { first } };
  return {
    hold: () => socket.hold((id) => feed()?.edges.find(({ node }) => node.id === id)?.node.relevancy),
    show: () => socket.show(),
    items: () => shownItems(feed()),
    hasNextPage: () => observer.getCurrentResult().hasNextPage,
    loadMore: () => socket.during(() => observer.fetchNextPage()),
    like: (id) => recipe.setLiked(like, actionIn(feed(), id), true),
    unlike: (id) => recipe.setLiked(like, actionIn(feed(), id), false),
    async [Symbol.asyncDispose]() {
      stop?.();
      hide();
      client.clear();
      await socket.dispose();
    },
  };
}
