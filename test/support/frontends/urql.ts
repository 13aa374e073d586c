import type { FeedPage } from '../../../docs/examples/frontends/documents.ts';
import * as recipe from '../../../docs/examples/frontends/urql.ts';
import { orThrow } from '../../../docs/examples/frontends/urql-pages.ts';
import { shownItems, type Screen, type Setting } from './screen.ts';

export async function openUrql({ url, getToken, socket, first, isLive }: Setting): Promise<Screen> {
  const client = recipe.createFeedClient(url, getToken, socket);
  await recipe.readFirstPage(client, socket, { first });
  let feed: FeedPage | undefined;
  const shown = client.query(recipe.FEED, { first }).subscribe(({ data, error }) => {
    // A read that failed has no data: what was read before stays on the screen.
    if (error === undefined) feed = data?.feed;
  });
  const live = isLive ? recipe.watchFeed(client, socket, { first }) : undefined;
  return {
    socket,
    items: () => shownItems(feed),
    hasNextPage: () => feed?.pageInfo.hasNextPage === true,
    loadMore: () => recipe.loadMore(client, socket, { first }),
    like: (id) => recipe.like(client, socket, id).then(orThrow),
    unlike: (id) => recipe.unlike(client, socket, id).then(orThrow),
    readAction: (id) =>
      client.query(recipe.ACTION, { id }, { requestPolicy: 'network-only' }).toPromise().then(orThrow),
    async [Symbol.asyncDispose]() {
      live?.unsubscribe();
      shown.unsubscribe();
      await socket.dispose();
    },
  };
}
