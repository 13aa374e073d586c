import { ApolloClient, ApolloLink, gql, Observable } from '@apollo/client';
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
} from '@fanfare/client/cache';
import { print } from 'graphql';
import { createCache } from './cache.ts';
import { deedsOf } from './deeds.ts';
import {
  feedList,
  notificationList,
  otherList,
  type FeedQuery,
  type ListQuery,
  type NotificationsQuery,
} from './lists.ts';

export interface FanfareOptions extends CacheSourceOptions {
  /** What the screens show beyond what the package needs. Say what it gives: `createFanfare<Shown>({ …, fields })`. */
  readonly fields?: Fields;
}

/** A reader's feed, lists and notifications in Apollo Client. */
export interface Fanfare<Shown extends ShownFields = DefaultFields> extends Deeds {
  /** For `ApolloProvider`. It sends any other query and mutation of the API, too. */
  readonly client: ApolloClient;
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

const LONGEST_PAGE = 100;
const LONGEST_PAGE_OF_GROUPS = 50;

/** Opens no connection: what is watched does. @throws TypeError when the url is none */
export function createFanfare<Shown extends ShownFields = DefaultFields>({
  fields,
  ...options
}: FanfareOptions): Fanfare<Shown> {
  const documents = cacheDocuments(fields);
  const starts: Starts = new Set();
  const cache = createCache(starts);
  const source = createCacheSource(options, documents, {
    forget(_why, isFinal) {
      void cache.reset();
      // Screens show nothing until they are answered again.
      client.clearStore().catch(() => undefined);
      if (isFinal) client.stop();
    },
    begin() {
      // A screen shows its own error.
      client.refetchObservableQueries().catch(() => undefined);
      return Promise.resolve();
    },
  });
  const client = new ApolloClient({ cache, link: linkOf(source) });
  const parts = { source, client, starts };
  for (const { name, variables, data } of source.waiting.lists)
    cache.writeQuery({ query: gql(documents[name]), variables, data });
  const { deeds, mutations } = deedsOf(parts, documents);
  const feedDocuments = { ...documents, feed: gql(documents.feed) };
  const notificationDocuments = { ...documents, notifications: gql(documents.notifications) };
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
      otherList(parts, gql(documents[name]), {
        name,
        variables,
        events: eventsOf(documents, name),
        most: name === 'groups' ? LONGEST_PAGE_OF_GROUPS : LONGEST_PAGE,
      }),
    notifications: (first = 20) => notificationList<Shown>(parts, notificationDocuments, first),
  };
}

/** Also what the host asks for is a request during which no event changes the cache. */
function linkOf(source: CacheSource): ApolloLink {
  return new ApolloLink(
    ({ query, variables }) =>
      new Observable((observer) => {
        const end = new AbortController();
        const send = async (): Promise<void> => {
          const data = await source.request<Record<string, unknown>>(print(query), variables, end.signal);
          observer.next({ data });
          observer.complete();
        };
        source.during(send).catch((error: unknown) => {
          observer.error(error);
        });
        return () => {
          end.abort();
        };
      }),
  );
}
