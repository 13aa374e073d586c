import { Client, fetchExchange, gql, mapExchange, subscriptionExchange, type Exchange } from '@urql/core';
import {
  cacheDocuments,
  createCacheSource,
  type CachedFeedEvent,
  type CachedFeedPage,
  type CacheFields,
  type CachedItem,
  type CachedNotification,
  type CachedPage,
  type CacheSource,
  type CacheSourceOptions,
  type Deeds,
  type DefaultFields,
  type FeedList,
  type FeedVariables,
  type ListVariables,
  type NotificationList,
  type NotificationsPage,
  type OtherLists,
  type PagedList,
  type ShownFields,
} from '@fanfare/client/cache';
import { createCacheExchange } from './cache.ts';
import {
  feedList,
  notificationList,
  otherList,
  settled,
  type FeedQuery,
  type Followed,
  type ListQuery,
  type NotificationsQuery,
} from './lists.ts';

export interface FanfareOptions extends CacheSourceOptions {
  /** What the screens show beyond what the package needs. Say what it gives: `createFanfare<Shown>({ …, fields })`. */
  readonly fields?: CacheFields;
}

/** A reader's feed, lists and notifications in urql with graphcache. */
export interface Fanfare<Shown extends ShownFields = DefaultFields> extends Deeds {
  /** For `Provider` of urql. It sends any other query and mutation of the API, too. */
  readonly client: Client;
  /** From this call on, new and moved items wait, and what is shown stays where it is. */
  hold(): void;
  /** Shows all that waits, and from this call on every event at once. */
  show(): void;
  feed(
    variables?: FeedVariables,
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
  const source = createCacheSource(options);
  const client = new Client({
    ...{ url: options.url, preferGetMethod: false, fetch: fetchBy(source) },
    exchanges: [
      ...[createCacheExchange(documents), gateOf(source), fetchExchange],
      subscriptionExchange({ forwardSubscription: followBy(source) }),
    ],
  });
  const parts = { client, source };
  const feedDocuments = { feed: gql(documents.feed), feedEvents: gql(documents.feedEvents) };
  const notificationDocuments = { ...documents, notifications: gql(documents.notifications) };
  const perform = (mutation: string, variables: object): Promise<void> =>
    settled(client.mutation(gql(mutation), variables).toPromise());
  return {
    ...{ client, hold: () => source.hold(), show: () => source.show() },
    like: (actionId) => perform(documents.like, { actionId }),
    unlike: (actionId) => perform(documents.unlike, { actionId }),
    bookmark: (actionId) => perform(documents.bookmark, { actionId }),
    unbookmark: (actionId) => perform(documents.unbookmark, { actionId }),
    comment: (actionId, text) => perform(documents.addComment, { actionId, text }),
    removeComment: (id) => perform(documents.removeComment, { id }),
    feed: (variables = {}) => feedList<Shown>(parts, feedDocuments, variables),
    list: (name, variables = {}) => otherList(parts, name, { query: gql(documents[name]), variables }),
    notifications: (first = 20) => notificationList<Shown>(parts, notificationDocuments, first),
  };
}

/** With the token, the tenant and the patience of the client. */
function fetchBy(source: CacheSource): typeof fetch {
  return async (_, init) => {
    const { query, variables } = JSON.parse(init?.body as string) as { query: string; variables: object };
    const data = await source.request(query, { ...variables }, init?.signal ?? undefined);
    return new Response(JSON.stringify({ data }), { headers: { 'content-type': 'application/json' } });
  };
}

/** From what the cache sends to its answer, no event changes the cache. */
function gateOf(source: CacheSource): Exchange {
  const open = new Map<number, () => void>();
  const end = (key: number): void => {
    open.get(key)?.();
    open.delete(key);
  };
  return mapExchange({
    onOperation({ kind, key }) {
      if (kind === 'teardown') end(key);
      else if (kind !== 'subscription' && !open.has(key))
        void source.during(
          () =>
            new Promise<void>((resolve) => {
              open.set(key, resolve);
            }),
        );
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
      const { filter } = (variables ?? {}) as { filter?: object };
      const { field, begin, resync } = context['followed'] as Followed;
      const unsubscribe = source.follow(query, {
        ...{ begin, filter, resync },
        apply: (event: object) => sink.next({ data: { [field]: { ...UNKNOWN, ...event } } }),
      });
      return { unsubscribe };
    },
  });
}
