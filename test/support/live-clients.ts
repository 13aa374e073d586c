import { createClient as createStreamClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { TestApp } from './app.ts';
import { PATIENCE_MS } from './patience.ts';

/** What is shown of an item, in a feed and in an event alike. */
export const ITEM_FIELDS = `fragment ItemFields on NewsfeedItem {
  id relevancy reasons isUnread
  action {
    id conducted scope isHidden
    actor { id memberId name teamId }
    refs { refId type label followerCount isFollowed }
    descriptor { type summary tags }
    engagement { comments likes reshares lastInteraction }
  }
}`;

const events = (more: string): string => `subscription ($after: String, $filter: FeedFilter) {
  feedEvents(after: $after, filter: $filter) {
    __typename cursor
    ... on FeedItemAdded { item { ...ItemFields } }
    ... on FeedItemUpdated { item { ...ItemFields } }
    ... on FeedItemRemoved { itemId actionId }
    ... on FeedResync { reason }
    ${more}
  }
} ${ITEM_FIELDS}`;

const COMMENTS = ['FeedItemAdded', 'FeedItemUpdated'].map(
  (type) =>
    `... on ${type} { item { action { interactions(kinds: [COMMENT], first: 5) { edges { node { text } } } } } }`,
);

export interface ShownItem {
  readonly id: string;
  readonly relevancy: string;
  readonly reasons: readonly string[];
  readonly isUnread: boolean;
  readonly action: {
    readonly id: string;
    readonly actor: { readonly name: string };
    readonly refs: readonly { readonly label: string }[];
    readonly descriptor: { readonly summary: string };
    /** Its comments, where they were asked for. */
    readonly interactions?: {
      readonly edges: readonly { readonly node: { readonly text: string | null } }[];
    };
  };
}

export type ShownEvent = { readonly cursor: string } & (
  | { readonly __typename: 'FeedReady' }
  | { readonly __typename: 'FeedItemAdded' | 'FeedItemUpdated'; readonly item: ShownItem }
  | { readonly __typename: 'FeedItemRemoved'; readonly itemId: string; readonly actionId: string }
  | {
      readonly __typename: 'UnreadCountChanged';
      readonly unread: { readonly count: number; readonly isExact: boolean };
    }
  | { readonly __typename: 'FeedResync'; readonly reason: string }
);

export interface WatchOptions {
  readonly after?: string;
  readonly filter?: object;
  /** Also ask for UnreadCountChanged. Default false. */
  readonly unread?: boolean;
  /** Also ask for the comments of items. Default false. */
  readonly comments?: boolean;
  /** Accept-Language of the connection. */
  readonly languages?: string;
}

/** Somebody who watches a feed. Disposing unsubscribes and disconnects. */
export interface FeedWatcher extends AsyncDisposable {
  /** The next event. Rejects with the errors of the subscription, when it has ended, and after half a minute. */
  next(): Promise<ShownEvent>;
  /** The ids of the actions that are added, up to and without this one. */
  addedUntil(actionId: string): Promise<string[]>;
}

export type Transport = 'WebSocket' | 'SSE';

/** Begins to watch as `sub`, and has got FeedReady. */
export async function watchFeed(
  transport: Transport,
  app: Pick<TestApp, 'url' | 'wsUrl' | 'token'>,
  sub: string,
  options: WatchOptions = {},
): Promise<FeedWatcher> {
  const watcher = await openWatcher(transport, app, sub, options);
  const first = await watcher.next();
  if (first.__typename === 'FeedReady') return watcher;
  await watcher[Symbol.asyncDispose]();
  throw new Error(`Instead of FeedReady came ${JSON.stringify(first)}`);
}

/** Begins to watch as `sub`. The first event is still to come. */
export async function openWatcher(
  transport: Transport,
  app: Pick<TestApp, 'url' | 'wsUrl' | 'token'>,
  sub: string,
  options: WatchOptions = {},
): Promise<FeedWatcher> {
  const authorization = `Bearer ${await app.token(sub)}`;
  const inbox = new Inbox();
  const { unread = false, comments = false, languages, ...variables } = options;
  const headers = languages === undefined ? {} : { 'accept-language': languages };
  const query = events(
    [
      ...(unread ? ['... on UnreadCountChanged { unread { count isExact } }'] : []),
      ...(comments ? COMMENTS : []),
    ].join(' '),
  );
  const request = { query, variables };
  if (transport === 'SSE') {
    const client = createStreamClient({
      url: `${app.url}/graphql`,
      headers: { authorization, ...headers },
      retryAttempts: 0,
    });
    const unsubscribe = client.subscribe<Data>(request, {
      next: (result) => {
        inbox.receive(result);
      },
      error: (reason) => {
        inbox.end(reason);
      },
      complete: () => {
        inbox.end(new Error('The subscription has ended'));
      },
    });
    return watcher(inbox, () => {
      unsubscribe();
      client.dispose();
    });
  }
  const client = createSocketClient({
    url: app.wsUrl,
    webSocketImpl: class extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols, { headers });
      }
    },
    connectionParams: { authorization },
    retryAttempts: 0,
  });
  const unsubscribe = client.subscribe<Data>(request, {
    next: (result) => {
      inbox.receive(result);
    },
    error: (reason) => {
      inbox.end(reason);
    },
    complete: () => {
      inbox.end(new Error('The subscription has ended'));
    },
  });
  return watcher(inbox, () => {
    unsubscribe();
    return client.dispose();
  });
}

interface Data extends Record<string, unknown> {
  readonly feedEvents: ShownEvent;
}

function watcher(inbox: Inbox, close: () => void | Promise<void>): FeedWatcher {
  return {
    next: () => inbox.take(),
    async addedUntil(actionId) {
      const added: string[] = [];
      for (;;) {
        const event = await inbox.take();
        if (event.__typename !== 'FeedItemAdded') throw new Error(`Unexpected: ${JSON.stringify(event)}`);
        if (event.item.action.id === actionId) return added;
        added.push(event.item.action.id);
      }
    },
    async [Symbol.asyncDispose]() {
      await close();
    },
  };
}

/** Keeps what has come until it is asked for. One asks at a time. */
class Inbox {
  readonly #events: ShownEvent[] = [];
  #end: Error | null = null;
  #wake: (() => void) | null = null;

  receive({ data, errors }: { readonly data?: Data | null | undefined; readonly errors?: unknown }): void {
    if (errors !== undefined) this.end(new Error(`Refused: ${JSON.stringify(errors)}`));
    else if (data != null) this.#events.push(data.feedEvents);
    this.#wake?.();
  }

  end(reason: unknown): void {
    this.#end ??= reason instanceof Error ? reason : new Error(`Refused: ${JSON.stringify(reason)}`);
    this.#wake?.();
  }

  async take(): Promise<ShownEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) return event;
      if (this.#end !== null) throw this.#end;
      await this.#news();
    }
  }

  #news(): Promise<void> {
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => {
        this.#wake = null;
        reject(new Error(`Nothing came for ${String(PATIENCE_MS)} ms`));
      }, PATIENCE_MS);
      this.#wake = () => {
        this.#wake = null;
        clearTimeout(patience);
        resolve();
      };
    });
  }
}
