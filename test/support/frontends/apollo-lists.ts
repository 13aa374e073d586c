import * as feed from '../../../docs/examples/frontends/apollo.ts';
import * as recipe from '../../../docs/examples/frontends/apollo-lists.ts';
import type { ListName, ListVariables, Row } from '../../../docs/examples/frontends/list-documents.ts';
import { Rereading, textOf, type Lists } from './lists.ts';
import type { Setting } from './screen.ts';

export async function openApolloLists({ url, getToken, socket, first }: Setting): Promise<Lists> {
  const client = feed.createFeedClient(url, getToken, socket);
  await feed.readFirstPage(client, socket, { first });
  const lists = new Map<ListName, ListVariables>();
  const rereading = new Rereading(async () => {
    for (const [name, variables] of lists) await recipe.load(client, socket, name, variables);
  });
  const live = feed.watchFeed(client, socket, { first }, rereading.want);
  const edges = (name: ListName) => recipe.readList(client, name, lists.get(name) ?? { first })?.edges ?? [];
  const row = (id: string): Row => {
    const variables = lists.get('slice') ?? { first };
    const slice = client.cache.readQuery({ query: recipe.QUERIES.slice, variables })?.slice;
    const found = slice?.edges.find(({ node }) => node.id === id);
    if (found === undefined) throw new Error(`Not in the slice: ${id}`);
    return found.node;
  };
  return {
    async open(name, variables) {
      lists.set(name, variables);
      await recipe.load(client, socket, name, variables);
    },
    shown: (name) => edges(name).map(({ node }) => textOf(node)),
    loadMore: (name) => recipe.loadMoreOf(client, socket, name, lists.get(name) ?? { first }),
    bookmark: async (id) => recipe.bookmark(client, socket, row(id)),
    unbookmark: async (id) => recipe.unbookmark(client, socket, row(id)),
    comment: async (id, text) => recipe.comment(client, socket, row(id), text),
    removeComment: async (id, text) => {
      const found = edges('comments').find(({ node }) => textOf(node) === text);
      return recipe.removeComment(client, socket, row(id), found?.node.id ?? '');
    },
    async [Symbol.asyncDispose]() {
      live.unsubscribe();
      rereading[Symbol.dispose]();
      client.stop();
      await socket.dispose();
    },
  };
}
