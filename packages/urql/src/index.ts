import {
  Client,
  fetchExchange,
  gql,
  mapExchange,
  subscriptionExchange,
  type Exchange,
  type Operation,
} from '@urql/core';
import {
  cacheDocuments,
  eventsOf,
  createCacheSource,
  type CachedFeedEvent,
  type CachedFeedPage,
  type CachedItem,
  type CachedNotification,
  type CachedPage,
  type CacheSource,
  type CacheSourceOptions,
  type Deeds,
  type DefaultFields,
  type FeedList,
  type FeedMutations,
  type FeedOptions,
  type Fields,
  type ListVariables,
  type NotificationList,
  type NotificationsPage,
  type OtherLists,
  type PagedList,
  type ShownFields,
  type Starts,
  type Watched,
} from '@fanfare/client/cache';
import { filter, map, merge, pipe, share } from 'wonka';
import { createCacheExchange } from './cache.ts';
import { answerOf, deedsOf } from './deeds.ts';
import { forgettable } from './forgettable.ts';
import {
  feedList,
  notificationList,
  otherList,
  type FeedQuery,
  type Followed,
  type ListQuery,
  type NotificationsQuery,
} from './lists.ts';

export interface FanfareOptions extends CacheSourceOptions {
  /** What the screens show beyond what the package needs. Say what it gives: `createFanfare<Shown>({ …, fields })`. */
  readonly fields?: Fields;
}

/** A reader's feed, lists and notifications in urql with graphcache. */
export interface Fanfare<Shown extends ShownFields = DefaultFields> extends Deeds {
  /** For `Provider` of urql. It sends any other query and mutation of the API, too. */
  readonly client: Client;
  /** All other changes a reader makes, such as `publishAction`. What is shown follows by events. */
  readonly mutations: FeedMutations;
  /** The language in which the server writes sentences for this reader, for `lang`; undefined before its first answer. */
  readonly language: string | undefined;
  /** From this call on, new and moved items wait, and what is shown stays where it is. */
  hold(): void;
  /** Shows all that waits, and from this call on every event at once. */
  show(): void;
  /**
   * When the reader signs out: ends everything for good, and empties the cache. Make another one for who comes next. While the
   * token function begins to answer for another reader, the cache is emptied, and what is shown is read again.
   */
  close(): void;
  feed(
    variables?: FeedOptions,
  ): FeedList<FeedQuery<Shown>, CachedFeedPage<Shown>, CachedFeedEvent<CachedItem<Shown>>>;
  /** Actions of a person or thing (`slice`), bookmarks, comments on an action, or groups of the feed. */
  list<Name extends keyof OtherLists>(
    name: Name,
    variables?: ListVariables,
  ): PagedList<ListQuery<Shown>, CachedPage<OtherLists<Shown>[Name]>>;
  /** @param first how many the bell shows, 1..100; default 20 */
  notifications(
    first?: number,
  ): NotificationList<NotificationsQuery<Shown>, NotificationsPage<CachedNotification<Shown>>>;
}

/** Opens no connection: what is watched does. @throws TypeError when the url is none */
export function createFanfare<Shown extends ShownFields = DefaultFields>({
  fields,
  ...options
}: FanfareOptions): Fanfare<Shown> {
  const documents = cacheDocuments(fields);
  const starts: Starts = new Set();
  const cache = forgettable(() => createCacheExchange(documents, starts));
  const source = createCacheSource(options, documents, cache);
  const client = new Client({
    ...{ url: options.url, preferGetMethod: false, fetch: fetchBy(source) },
    exchanges: [
      ...[cache.exchange, keptExchange, gateOf(source), fetchExchange],
      subscriptionExchange({ forwardSubscription: followBy(source) }),
    ],
  });
  const parts = { client, source, starts };
  const feedDocuments = { ...documents, feed: gql(documents.feed), feedEvents: gql(documents.feedEvents) };
  const notificationDocuments = { ...documents, notifications: gql(documents.notifications) };
  for (const { name, variables, data } of source.waiting.lists)
    client
      .query(gql(documents[name]), variables, { requestPolicy: 'network-only', kept: data })
      .subscribe(() => undefined)
      .unsubscribe();
  const { deeds, mutations } = deedsOf(client, source, documents);
  return {
    get language() {
      return source.language;
    },
    ...{
      client,
      mutations,
      hold: () => source.hold(),
      show: () => source.show(),
      close: () => source.close(),
    },
    ...deeds,
    feed: (variables = {}) => feedList<Shown>(parts, feedDocuments, variables),
    list: (name, variables = {}) =>
      otherList(parts, name, { query: gql(documents[name]), variables, events: eventsOf(documents, name) }),
    notifications: (first = 20) => notificationList<Shown>(parts, notificationDocuments, first),
  };
}

/** With the token, the tenant and the patience of the client. */
function fetchBy(source: CacheSource): typeof fetch {
  return async (_, init) => {
    const { query, variables } = JSON.parse(init?.body as string) as { query: string; variables: object };
    return answerOf(await source.request(query, { ...variables }, init?.signal ?? undefined));
  };
}

/** Answers with what is given as `kept`. */
const keptExchange: Exchange =
  ({ forward }) =>
  (operations$) => {
    const shared$ = share(operations$);
    const isKept = ({ kind, context }: Operation): boolean =>
      kind === 'query' && context['kept'] !== undefined;
    return merge([
      pipe(
        shared$,
        filter(isKept),
        map((operation) => ({
          ...{ operation, data: operation.context['kept'] as unknown, stale: false, hasNext: false },
        })),
      ),
      pipe(
        shared$,
        filter((operation) => !isKept(operation)),
        forward,
      ),
    ]);
  };

/** From what the cache sends to its answer, no event changes the cache. */
function gateOf(source: CacheSource): Exchange {
  const open = new Map<number, () => void>();
  const end = (key: number): void => {
    open.get(key)?.();
    open.delete(key);
  };
  return mapExchange({
    onOperation({ kind, key, context }) {
      if (kind === 'teardown') end(key);
      else if (kind !== 'subscription' && context['deed'] === undefined && !open.has(key)) {
        const over = source.during(
          () =>
            new Promise<void>((resolve) => {
              open.set(key, resolve);
            }),
        );
        // With the reader it ends without an answer.
        over.catch(() => end(key));
      }
    },
    onResult: ({ operation }) => end(operation.key),
  });
}

type Forward = Parameters<typeof subscriptionExchange>[0]['forwardSubscription'];

/** Graphcache warns of each field that some event has and this one lacks. */
const UNKNOWN = {
  item: null,
  itemId: null,
  reason: null,
  notification: null,
  notificationId: null,
  unseen: null,
};

/** Events go through the client, so that graphcache sees them. */
function followBy(source: CacheSource): Forward {
  return ({ query = '', variables }, { context }) => ({
    subscribe(sink) {
      const of = (variables ?? {}) as Watched;
      const { field, ...followed } = context['followed'] as Followed;
      const unsubscribe = source.follow(query, {
        ...{ of, ...followed },
        apply: (event: never) => sink.next({ data: { [field]: { ...UNKNOWN, ...(event as object) } } }),
      });
      return { unsubscribe };
    },
  });
}
