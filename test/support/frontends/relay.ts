import * as recipe from '../../../docs/examples/frontends/relay.ts';
import { actionIn, shownItems, type Screen, type Setting } from './screen.ts';

export async function openRelay({ url, getToken, openSocket, first, isLive }: Setting): Promise<Screen> {
  const socket = openSocket();
  const environment = recipe.createEnvironment(url, getToken, socket);
  await recipe.readFirstPage(environment, socket, { first });
  const retained = recipe.retainFeed(environment, { first });
  const live = isLive ? recipe.watchFeed(environment, socket, { first }) : undefined;
  const feed = () => recipe.readFeed(environment, { first })?.feed;
  return {
    hold: () => socket.hold((id) => feed()?.edges.find(({ node }) => node.id === id)?.node.relevancy),
    show: () => socket.show(),
    items: () => shownItems(feed()),
    hasNextPage: () => feed()?.pageInfo.hasNextPage === true,
    loadMore: () => recipe.loadMore(environment, socket, { first }),
    like: (id) => recipe.like(environment, socket, actionIn(feed(), id)),
    unlike: (id) => recipe.unlike(environment, socket, actionIn(feed(), id)),
    readAction: (id) => recipe.readAction(environment, id),
    async [Symbol.asyncDispose]() {
      live?.dispose();
      retained.dispose();
      await socket.dispose();
    },
  };
}
