import type { FeedPage } from '../../../docs/examples/frontends/documents.ts';
import * as recipe from '../../../docs/examples/frontends/urql.ts';
import { shownItems, type Screen, type Setting } from './screen.ts';

export async function openUrql({ url, getToken, socket, first, isLive }: Setting): Promise<Screen> {
  const client = recipe.createFeedClient(url, getToken, socket);
  await recipe.readFirstPage(client, socket, { first });
  let feed: FeedPage | undefined;
  const shown = client.query(recipe.FEED, { first }).subscribe(({ data }) => {
    feed = data?.feed;
  });
  const live = isLive ? recipe.watchFeed(client, socket, { first }) : undefined;
  const orThrow = async (result: Promise<{ readonly error?: Error | undefined }>): Promise<void> => {
    const { error } = await result;
    if (error !== undefined) throw error;
  };
  return {
    socket,
    items: () => shownItems(feed),
    hasNextPage: () => feed?.pageInfo.hasNextPage === true,
    loadMore: () => recipe.loadMore(client, socket, { first }),
    like: (id) => orThrow(recipe.like(client, socket, id)),
    unlike: (id) => orThrow(recipe.unlike(client, socket, id)),
    readAction: (id) =>
      orThrow(client.query(recipe.ACTION, { id }, { requestPolicy: 'network-only' }).toPromise()),
    async [Symbol.asyncDispose]() {
      live?.unsubscribe();
      shown.unsubscribe();
      await socket.dispose();
    },
  };
}
