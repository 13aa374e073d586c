import { gql, type ApolloClient, type TypedDocumentNode } from '@apollo/client';
import {
  afterFeedEvent,
  afterNotificationEvent,
  watchedOf,
  beginOf,
  FeedStart,
  inReviewIn,
  listIn,
  moves,
  type CachedFeedEvent,
  type CachedFeedPage,
  type CachedItem,
  type CachedList,
  type CachedNotification,
  type CachedNotificationEvent,
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
import { print } from 'graphql';

/** What the lists are made of. */
export interface Parts {
  readonly client: ApolloClient;
  readonly source: CacheSource;
  readonly starts: Starts;
}

/** A query of one list, with the part of its answer that is the list. */
interface Listed<Answer, Page> {
  readonly name: CachedList;
  readonly query: TypedDocumentNode<Answer>;
  readonly variables: object;
  readonly pageIn: (answer: Answer) => Page | undefined;
  /** False: it is not kept in the browser. */
  readonly isKept?: boolean;
}

/** Reads a list into the cache and out of it. */
class Loaded<Answer, Page> {
  readonly #parts: Parts;
  readonly #list: Listed<Answer, Page>;
  /** Call it when it has changed. */
  readonly changed: (cursor?: string) => void;

  constructor(parts: Parts, list: Listed<Answer, Page>) {
    this.#parts = parts;
    this.#list = list;
    const { waiting } = parts.source;
    const { name, variables, query, isKept = true } = list;
    const confirmed = () => parts.client.cache.readQuery<object>({ query, variables });
    this.changed = isKept ? waiting.keeping(name, variables, confirmed) : () => undefined;
  }

  read(): Page | undefined {
    const answer = this.answer();
    return answer === undefined ? undefined : this.#list.pageIn(answer);
  }

  answer(): Answer | undefined {
    const { query, variables } = this.#list;
    return this.#parts.client.cache.readQuery({ query, variables }, true) ?? undefined;
  }

  load(): Promise<void> {
    return this.inTurn(() => this.ask());
  }

  readonly subscribe = (listener: (page: Page | undefined) => void): (() => void) => {
    const { query, variables } = this.#list;
    const watched = this.#parts.client.watchQuery({ query, variables, fetchPolicy: 'cache-only' });
    const subscription = watched.subscribe(() => {
      listener(this.read());
    });
    return () => {
      subscription.unsubscribe();
    };
  };

  async ask(part: object = {}): Promise<void> {
    const { query, variables } = this.#list;
    await this.#parts.source.during(() =>
      this.#parts.client.query({
        query,
        variables: { ...variables, ...part },
        fetchPolicy: 'network-only',
      }),
    );
    this.changed();
  }

  /** In turn with the other reads of this list. */
  inTurn(read: () => Promise<void>): Promise<void> {
    const { name, variables } = this.#list;
    return this.#parts.source.inTurn(JSON.stringify([name, variables]), read);
  }

  change(change: (answer: Answer) => Answer): void {
    const { query, variables } = this.#list;
    this.#parts.client.cache.updateQuery({ query, variables }, (answer) =>
      answer === null ? undefined : change(answer),
    );
  }
}

/** As it goes to the server: with the names of types, which the cache needs. */
export const sent = ({ client }: Parts, document: string): string =>
  print(client.cache.transformDocument(gql(document)));

export type FeedQuery<Shown extends ShownFields> = TypedDocumentNode<
  { feed: CachedFeedPage<Shown> },
  FeedVariables
>;

export function feedList<Shown extends ShownFields>(
  parts: Parts,
  documents: { readonly feed: FeedQuery<Shown>; readonly feedEvents: string; readonly firstUnread: string },
  options: FeedOptions,
): FeedList<FeedQuery<Shown>, CachedFeedPage<Shown>, CachedFeedEvent<CachedItem<Shown>>> {
  const query = documents.feed;
  const { from: _from, ...variables } = options;
  const start = new FeedStart(parts.source, parts.starts, options);
  const loaded = new Loaded<{ feed: CachedFeedPage<Shown> }, CachedFeedPage<Shown>>(parts, {
    ...{ name: 'feed', query, variables, pageIn: ({ feed }) => feed },
    isKept: options.from === undefined,
  });
  const read = (): CachedFeedPage<Shown> | undefined => loaded.read();
  const load = (): Promise<void> =>
    loaded.inTurn(async () => {
      await start.find(documents.firstUnread);
      await loaded.ask(start.variables);
    });
  return {
    get variables() {
      return start.variables;
    },
    ...{ query, read, load, subscribe: loaded.subscribe },
    loadMore: () =>
      loaded.inTurn(async () => {
        const { hasNextPage, endCursor } = loaded.read()?.pageInfo ?? {};
        if (hasNextPage === true) await loaded.ask({ after: endCursor });
      }),
    loadPrevious: () =>
      loaded.inTurn(async () => {
        const above = start.above(loaded.read());
        if (above !== undefined) await loaded.ask({ first: undefined, ...above });
      }),
    watch: (onEvent = () => undefined) =>
      parts.source.follow<CachedFeedEvent<CachedItem<Shown>>>(sent(parts, documents.feedEvents), {
        ...{ begin: () => beginOf({ read, load }), of: watchedOf(variables) },
        moves: (event) => moves(loaded.read(), event),
        onCursor: loaded.changed,
        apply(event) {
          loaded.change(({ feed }) => ({ feed: afterFeedEvent(feed, event) }));
          onEvent(event);
        },
        async resync(reason, cursor) {
          await load();
          onEvent({ __typename: 'FeedResync', reason, cursor });
        },
      }),
  };
}

export type ListQuery<Shown extends ShownFields> = TypedDocumentNode<ListAnswer<Shown>, ListVariables>;

/** @param most the largest page of such a list */
export function otherList<Shown extends ShownFields, Name extends keyof OtherLists>(
  parts: Parts,
  query: ListQuery<Shown>,
  {
    name,
    variables,
    most,
    events,
  }: {
    readonly name: Name;
    readonly variables: ListVariables;
    readonly most: number;
    readonly events?: string | undefined;
  },
): PagedList<ListQuery<Shown>, CachedPage<OtherLists<Shown>[Name]>> {
  type Page = CachedPage<OtherLists<Shown>[Name]>;
  const loaded = new Loaded<ListAnswer<Shown>, Page>(parts, {
    ...{ name, query, variables, pageIn: (answer) => listIn(answer) as Page | undefined },
  });
  /** How many were asked for: an answer to a shorter page may come after that of the next one. */
  let wanted = variables.first ?? 0;
  const want = (more: number): number => {
    wanted = Math.min(most, Math.max(wanted, (loaded.read()?.edges.length ?? 0) + more));
    return wanted;
  };
  // As one page, which replaces what was loaded.
  const load = (): Promise<void> => loaded.inTurn(() => loaded.ask(want(0) > 0 ? { first: wanted } : {}));
  return {
    ...{ query, variables, read: () => loaded.read(), load, subscribe: loaded.subscribe },
    inReview() {
      const answer = loaded.answer();
      return answer === undefined ? [] : inReviewIn(answer);
    },
    loadMore: () =>
      loaded.inTurn(async () => {
        const { hasNextPage, endCursor } = loaded.read()?.pageInfo ?? {};
        if (hasNextPage !== true) return;
        want(variables.first ?? 0);
        await loaded.ask({ after: endCursor });
      }),
    watch: () =>
      parts.source.readAgain(
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
  const [query, variables] = [documents.notifications, { first }];
  type Page = NotificationsPage<CachedNotification<Shown>>;
  const loaded = new Loaded<{ notifications: Page }, Page>(parts, {
    ...{ name: 'notifications', query, variables, pageIn: ({ notifications }) => notifications },
  });
  return {
    ...{ query, variables, read: () => loaded.read(), load: () => loaded.load() },
    subscribe: loaded.subscribe,
    watch: () =>
      parts.source.follow<CachedNotificationEvent<CachedNotification<Shown>>>(
        sent(parts, documents.notificationEvents),
        {
          begin: () => beginOf(loaded),
          onCursor: loaded.changed,
          apply: (event) =>
            loaded.change(({ notifications }) => ({
              notifications: afterNotificationEvent(notifications, event, first),
            })),
          resync: () => loaded.load(),
        },
      ),
    async markSeen() {
      const upTo = loaded.read()?.edges[0]?.node.at;
      if (upTo === undefined) return;
      await parts.source.during(() =>
        parts.client.mutate({ mutation: gql(documents.markSeen), variables: { upTo } }),
      );
    },
  };
}
