import * as recipe from '../../../docs/examples/frontends/apollo.ts';
import { actionIn, shownItems, type Screen, type Setting } from './screen.ts';

export async function openApollo({ url, getToken, socket, first, isLive }: Setting): Promise<Screen> {
  const client = recipe.createFeedClient(url, getToken, socket);
  await recipe.readFirstPage(client, socket, { first });
  const query = client.watchQuery({ query: recipe.FEED, variables: { first } });
  const shown = query.subscribe(() => undefined);
  const live = isLive ? recipe.watchFeed(client, socket, { first }) : undefined;
  const feed = () => query.getCurrentResult().data?.feed as Parameters<typeof shownItems>[0];
  const pageInfo = () => client.readQuery({ query: recipe.FEED, variables: { first } })?.feed.pageInfo;
  const action = (id: string) =>
    actionIn(client.readQuery({ query: recipe.FEED, variables: { first } })?.feed, id);
  return {
    socket,
    items: () => shownItems(feed()),
    hasNextPage: () => pageInfo()?.hasNextPage === true,
    loadMore: () => recipe.loadMore(client, socket, { first }),
    like: async (id) => recipe.like(client, socket, action(id)),
    unlike: async (id) => recipe.unlike(client, socket, action(id)),
    readAction: (id) =>
      client.query({ query: recipe.ACTION, variables: { id }, fetchPolicy: 'network-only' }),
    async [Symbol.asyncDispose]() {
      live?.unsubscribe();
      shown.unsubscribe();
      client.stop();
      await socket.dispose();
    },
  };
}
