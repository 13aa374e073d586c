import * as feed from '../../../docs/examples/frontends/urql.ts';
import * as recipe from '../../../docs/examples/frontends/urql-lists.ts';
import type { ListName, ListVariables } from '../../../docs/examples/frontends/list-documents.ts';
import { Rereading, textOf, type Lists } from './lists.ts';
import type { Setting } from './screen.ts';

export async function openUrqlLists({ url, getToken, socket, first }: Setting): Promise<Lists> {
  const client = feed.createFeedClient(url, getToken, socket);
  await feed.readFirstPage(client, socket, { first });
  const lists = new Map<ListName, ListVariables>();
  const rereading = new Rereading(async () => {
    for (const [name, variables] of lists) await recipe.load(client, socket, name, variables);
  });
  const live = feed.watchFeed(client, socket, { first }, rereading.want);
  const edges = (name: ListName) => recipe.readList(client, name, lists.get(name) ?? { first })?.edges ?? [];
  const orThrow = async (result: Promise<{ readonly error?: Error | undefined }>): Promise<void> => {
    const { error } = await result;
    if (error !== undefined) throw error;
  };
  return {
    async open(name, variables) {
      lists.set(name, variables);
      await recipe.load(client, socket, name, variables);
    },
    shown: (name) => edges(name).map(({ node }) => textOf(node)),
    loadMore: (name) => recipe.loadMoreOf(client, socket, name, lists.get(name) ?? { first }),
    bookmark: (id) => orThrow(recipe.bookmark(client, socket, id)),
    unbookmark: (id) => orThrow(recipe.unbookmark(client, socket, id)),
    comment: (id, text) => orThrow(recipe.comment(client, socket, id, text)),
    removeComment: (_, text) => {
      const found = edges('comments').find(({ node }) => textOf(node) === text);
      return orThrow(recipe.removeComment(client, socket, found?.node.id ?? ''));
    },
    async [Symbol.asyncDispose]() {
      live.unsubscribe();
      rereading[Symbol.dispose]();
      await socket.dispose();
    },
  };
}
