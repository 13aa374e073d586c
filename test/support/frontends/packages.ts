import { createFanfare as createInApollo, type Fanfare as InApollo } from '@fanfare/apollo';
import { createFanfare as createInUrql, type Fanfare as InUrql } from '@fanfare/urql';
import { parse, type DocumentNode } from 'graphql';
import { WebSocket } from 'ws';
import { textOf, type Lists, type ListName, type PagedList } from './lists.ts';
import { shownItems, type Screen, type Setting } from './screen.ts';

const ACTION = parse(
  'query Action($id: ID!) { action(id: $id) { id engagement { likes } viewer { hasLiked } } }',
);

/** A library with what the package made in it. */
interface Opened {
  readonly fanfare: InApollo | InUrql;
  /** Reads, past the cache. */
  query(document: DocumentNode, variables: object): Promise<unknown>;
  /** What the library itself shows of a list. */
  view(list: { readonly query: DocumentNode; readonly variables: object }): () => unknown;
  readonly close: () => void;
}

function optionsOf({ url, wsUrl, getToken, onHeld, offline, onSent }: Setting) {
  const elsewhere = class extends WebSocket {
    constructor(_url: string, protocols?: string | string[]) {
      super(wsUrl, protocols);
    }
    override send(message: string): void {
      onSent?.(message);
      super.send(message);
    }
  };
  return { url, offline, token: getToken, onHeld, backoff: { firstMs: 20, maxMs: 20 }, webSocket: elsewhere };
}

/** A server makes one for each request, with a token as text. */
export function inBrowser<T>(create: () => T): T {
  const page = globalThis as { window?: object };
  page.window = { navigator: { userAgent: 'a test' } };
  try {
    return create();
  } finally {
    delete page.window;
  }
}

function openApollo(setting: Setting): Opened {
  const fanfare = inBrowser(() => createInApollo(optionsOf(setting)));
  const { client } = fanfare;
  const views: { unsubscribe(): void }[] = [];
  return {
    fanfare,
    query: (query, variables) => client.query({ query, variables, fetchPolicy: 'network-only' }),
    view({ query, variables }) {
      const watched = client.watchQuery({ query, variables });
      views.push(watched.subscribe(() => undefined));
      return () => watched.getCurrentResult().data;
    },
    close() {
      for (const view of views) view.unsubscribe();
      client.stop();
    },
  };
}

function openUrql(setting: Setting): Opened {
  const fanfare = inBrowser(() => createInUrql(optionsOf(setting)));
  const { client } = fanfare;
  const views: { unsubscribe(): void }[] = [];
  return {
    fanfare,
    async query(query, variables) {
      const { error } = await client.query(query, variables, { requestPolicy: 'network-only' }).toPromise();
      if (error !== undefined) throw error;
    },
    view({ query, variables }) {
      let shown: unknown;
      views.push(
        client.query(query, variables).subscribe(({ data, error }) => {
          // A read that failed has no data: what was read before stays on the screen.
          if (error === undefined) shown = data;
        }),
      );
      return () => shown;
    },
    close() {
      for (const view of views) view.unsubscribe();
    },
  };
}

type Open = (setting: Setting) => Opened;

export const PACKAGES: readonly (readonly [name: string, open: Open])[] = [
  ['Apollo Client', openApollo],
  ['urql', openUrql],
];

export const openScreenOf =
  (open: Open) =>
  async (setting: Setting): Promise<Screen> => {
    const { fanfare, query, view, close } = open(setting);
    const feed = fanfare.feed({ first: setting.first });
    await feed.load();
    const shown = view(feed) as () => { readonly feed: ReturnType<typeof feed.read> } | undefined;
    const stop = setting.isLive ? feed.watch() : undefined;
    return {
      hold: () => fanfare.hold(),
      show: () => fanfare.show(),
      items: () => shownItems(shown()?.feed),
      hasNextPage: () => feed.read()?.pageInfo.hasNextPage === true,
      loadMore: () => feed.loadMore(),
      like: (id) => fanfare.like(id),
      unlike: (id) => fanfare.unlike(id),
      readAction: (id) => query(ACTION, { id }),
      [Symbol.asyncDispose]() {
        stop?.();
        close();
        return Promise.resolve();
      },
    };
  };

export const openListsOf =
  (open: Open) =>
  async (setting: Setting): Promise<Lists> => {
    const { fanfare, close } = open(setting);
    const feed = fanfare.feed({ first: setting.first });
    await feed.load();
    const stops = [feed.watch()];
    const lists = new Map<ListName, PagedList>();
    const nodes = (name: ListName) =>
      lists
        .get(name)
        ?.read()
        ?.edges.map(({ node }) => node) ?? [];
    return {
      async open(name, variables) {
        const list = fanfare.list(name, variables);
        lists.set(name, list);
        await list.load();
        stops.push(list.watch());
      },
      shown: (name) => nodes(name).map(textOf),
      loadMore: async (name) => lists.get(name)?.loadMore(),
      async openFeed(options) {
        const other = fanfare.feed(options);
        await other.load();
        stops.push(other.watch());
        return {
          shown: () => (other.read()?.edges ?? []).map(({ node }) => textOf(node.action)),
          hasMoreAbove: () => other.read()?.pageInfo.hasPreviousPage === true,
          loadMore: () => other.loadMore(),
          loadPrevious: () => other.loadPrevious(),
        };
      },
      bookmark: (id) => fanfare.bookmark(id),
      unbookmark: (id) => fanfare.unbookmark(id),
      comment: (id, text) => fanfare.comment(id, text),
      removeComment: (id) => fanfare.removeComment(id),
      [Symbol.asyncDispose]() {
        for (const stop of stops) stop();
        close();
        return Promise.resolve();
      },
    };
  };
