import {
  createRequest,
  formatDocument,
  gql,
  stringifyDocument,
  type Client,
  type DocumentInput,
  type TypedDocumentNode,
} from '@urql/core';
import {
  beginOf,
  FeedStart,
  inReviewIn,
  listIn,
  moves,
  watchedOf,
  type CachedFeedEvent,
  type CachedFeedPage,
  type CachedItem,
  type CachedList,
  type CachedNotification,
  type CachedPage,
  type CacheSource,
  type FeedList,
  type FeedOptions,
  type FeedVariables,
  type ListAnswer,
  type ListVariables,
  type NotificationList,
  type NotificationsPage,
  type OtherLists,
  type PagedList,
  type ShownFields,
  type Starts,
} from '@fanfare/client/cache';

/** What the lists are made of. */
export interface Parts {
  readonly client: Client;
  readonly source: CacheSource;
  readonly starts: Starts;
}

/** What a subscription says to the exchange that follows it. */
export interface Followed {
  /** The one field of the subscription. */
  readonly field: string;
  readonly begin: () => Promise<string | undefined>;
  readonly moves?: (event: never) => boolean;
  readonly resync: (reason: string, cursor: string) => Promise<unknown>;
  readonly onCursor: (cursor: string) => void;
}

/** Rejects with what has failed, which urql gives as a result. */
export async function settled(
  answer: PromiseLike<{ readonly error?: { readonly networkError?: Error } | undefined }>,
): Promise<void> {
  const { error } = await answer;
  if (error !== undefined) throw (error.networkError ?? error) as Error;
}

/** Reads a list into the cache. */
async function ask<Answer, Variables extends object>(
  client: Client,
  query: TypedDocumentNode<Answer, Variables>,
  variables: Variables,
): Promise<void> {
  // Wait until the cache has sent its own requests: urql would take their response for this one's.
  await Promise.resolve();
  await settled(client.query(query, variables, { requestPolicy: 'network-only' }).toPromise());
}

/** While it is read again, urql gives nothing of a list: then it is what it was before, for the same reader. */
function lasting<Page>(source: CacheSource, read: () => Page | undefined): () => Page | undefined {
  let last: Page | undefined;
  let { reader } = source;
  return () => {
    if (reader.aborted) last = undefined;
    ({ reader } = source);
    return (last = read() ?? last);
  };
}

interface Shown<Answer, Variables extends object, Page> {
  readonly query: TypedDocumentNode<Answer, Variables>;
  readonly variablesOf: () => Variables;
  readonly pageIn: (answer: Answer) => Page | undefined;
}

/** By the cache alone. What it gives must not be read again while it tells of it: that would be told as well. */
const subscriberOf =
  <Answer, Variables extends object, Page>(
    { client, source }: Pick<Parts, 'client' | 'source'>,
    { query, variablesOf, pageIn }: Shown<Answer, Variables, Page>,
  ) =>
  (listener: (page: Page | undefined) => void): (() => void) => {
    let page: Page | undefined;
    const shown = lasting(source, () => page);
    const results = client.query(query, variablesOf(), { requestPolicy: 'cache-only' });
    const subscription = results.subscribe(({ data }) => {
      page = data === undefined || data === null ? undefined : pageIn(data);
      listener(shown());
    });
    return () => {
      subscription.unsubscribe();
    };
  };

/** As it goes to the server: with the names of types. */
export function textOf(document: DocumentInput): string {
  return stringifyDocument(formatDocument(createRequest(document, {}).query) as typeof document);
}

/** @returns call it when the list has changed: it is kept in the browser */
function keeping<Data extends object, Variables extends object>(
  { client, source }: Pick<Parts, 'client' | 'source'>,
  name: CachedList,
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): (cursor?: string) => void {
  // With the names of types, as if they were asked for: without them graphcache does not take it again.
  const named = gql<Data, Variables>(textOf(query));
  return source.waiting.keeping(name, variables, () => client.readQuery(named, variables)?.data);
}

function follow<Data>(
  client: Client,
  query: TypedDocumentNode<Data>,
  variables: object,
  { onData, ...followed }: Followed & { readonly onData?: (data: Data) => void },
): () => void {
  const watch = client.subscription(query, variables, { followed }).subscribe(({ data }) => {
    if (data !== undefined) onData?.(data);
  });
  return () => {
    watch.unsubscribe();
  };
}

export type FeedQuery<Shown extends ShownFields> = TypedDocumentNode<
  { feed: CachedFeedPage<Shown> },
  FeedVariables
>;

export function feedList<Shown extends ShownFields>(
  parts: Parts,
  documents: {
    readonly feed: FeedQuery<Shown>;
    readonly firstUnread: string;
    readonly feedEvents: TypedDocumentNode<{ feedEvents: CachedFeedEvent<CachedItem<Shown>> }>;
  },
  options: FeedOptions,
): FeedList<FeedQuery<Shown>, CachedFeedPage<Shown>, CachedFeedEvent<CachedItem<Shown>>> {
  const { client, source, starts } = parts;
  const query = documents.feed;
  const start = new FeedStart(source, starts, options);
  const changed = options.from === undefined ? keeping(parts, 'feed', query, options) : () => undefined;
  const read = lasting(source, () => client.readQuery(query, start.variables)?.data?.feed);
  const name = JSON.stringify(['feed', options]);
  const load = (): Promise<void> =>
    source.inTurn(name, async () => {
      await start.find(documents.firstUnread);
      await ask(client, query, start.variables);
      changed();
    });
  return {
    get variables() {
      return start.variables;
    },
    ...{
      query,
      read,
      load,
      subscribe: subscriberOf(parts, {
        query,
        variablesOf: () => start.variables,
        pageIn: ({ feed }) => feed,
      }),
    },
    loadMore: () =>
      source.inTurn(name, async () => {
        const { hasNextPage, endCursor = null } = read()?.pageInfo ?? {};
        if (hasNextPage === true) await ask(client, query, { ...start.variables, after: endCursor });
        changed();
      }),
    loadPrevious: () =>
      source.inTurn(name, async () => {
        const above = start.above(read());
        if (above !== undefined) await ask(client, query, above);
      }),
    watch(onEvent = () => undefined) {
      const list = watchedOf(options);
      return follow<{ feedEvents: CachedFeedEvent<CachedItem<Shown>> }>(client, documents.feedEvents, list, {
        ...{ field: 'feedEvents', begin: () => beginOf({ read, load }), onCursor: changed },
        moves: (event: CachedFeedEvent<CachedItem<Shown>>) => moves(read(), event),
        async resync(reason, cursor) {
          await load();
          onEvent({ __typename: 'FeedResync', reason, cursor });
        },
        onData: ({ feedEvents }) => onEvent(feedEvents),
      });
    },
  };
}

export type ListQuery<Shown extends ShownFields> = TypedDocumentNode<ListAnswer<Shown>, ListVariables>;

export function otherList<Shown extends ShownFields, Name extends keyof OtherLists>(
  parts: Parts,
  list: Name,
  {
    query,
    variables,
    events,
  }: {
    readonly query: ListQuery<Shown>;
    readonly variables: ListVariables;
    readonly events?: string | undefined;
  },
): PagedList<ListQuery<Shown>, CachedPage<OtherLists<Shown>[Name]>> {
  const { client, source } = parts;
  const changed = keeping(parts, list, query, variables);
  const read = lasting(source, () => {
    const answer = client.readQuery(query, variables)?.data;
    return answer && (listIn(answer) as CachedPage<OtherLists<Shown>[Name]> | undefined);
  });
  const inReview = lasting(source, () => {
    const answer = client.readQuery(query, variables)?.data;
    return answer && inReviewIn(answer);
  });
  /** @returns whether there was more */
  const askMore = async (): Promise<boolean> => {
    const { hasNextPage, endCursor = null } = read()?.pageInfo ?? {};
    if (hasNextPage !== true) return false;
    await ask(client, query, { ...variables, after: endCursor });
    return true;
  };
  const name = JSON.stringify([list, variables]);
  // The first page drops the others, which are read again one after the other.
  const load = (): Promise<void> =>
    source.inTurn(name, async () => {
      const loaded = read()?.edges.length ?? 0;
      await ask(client, query, variables);
      while ((read()?.edges.length ?? loaded) < loaded && (await askMore()));
      changed();
    });
  return {
    ...{ query, variables, read, load, inReview: () => inReview() ?? [] },
    subscribe: subscriberOf(parts, {
      query,
      variablesOf: () => variables,
      pageIn: (answer) => listIn(answer) as CachedPage<OtherLists<Shown>[Name]> | undefined,
    }),
    loadMore: () =>
      source.inTurn(name, async () => {
        await askMore();
        changed();
      }),
    watch: () =>
      source.readAgain(
        load,
        events === undefined ? undefined : { subscription: events, of: watchedOf(variables) },
      ),
  };
}

export type NotificationsQuery<Shown extends ShownFields> = TypedDocumentNode<
  { notifications: NotificationsPage<CachedNotification<Shown>> },
  { first?: number }
>;

export function notificationList<Shown extends ShownFields>(
  parts: Parts,
  documents: {
    readonly notifications: NotificationsQuery<Shown>;
    readonly notificationEvents: string;
    readonly markSeen: string;
  },
  first: number,
): NotificationList<NotificationsQuery<Shown>, NotificationsPage<CachedNotification<Shown>>> {
  const { client, source } = parts;
  const [query, variables] = [documents.notifications, { first }];
  const changed = keeping(parts, 'notifications', query, variables);
  const read = lasting(source, () => client.readQuery(query, variables)?.data?.notifications);
  const load = (): Promise<void> =>
    source.inTurn(JSON.stringify(['notifications', variables]), async () => {
      await ask(client, query, variables);
      changed();
    });
  return {
    ...{
      query,
      variables,
      read,
      load,
      subscribe: subscriberOf(parts, {
        query,
        variablesOf: () => variables,
        pageIn: ({ notifications }) => notifications,
      }),
    },
    watch: () =>
      follow(
        client,
        gql(documents.notificationEvents),
        {},
        {
          field: 'notificationEvents',
          begin: () => beginOf({ read, load }),
          resync: load,
          onCursor: changed,
        },
      ),
    async markSeen() {
      const upTo = read()?.edges[0]?.node.at;
      if (upTo !== undefined) await settled(client.mutation(gql(documents.markSeen), { upTo }).toPromise());
    },
  };
}
