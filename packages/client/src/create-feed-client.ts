import { ITEM_FIELDS, NOTIFICATIONS, notificationEventsOf, queryOf, subscriptionOf } from './documents.ts';
import { createTell, protocolError } from './errors.ts';
import { createMutations } from './mutations.ts';
import { createRequest } from './request.ts';
import { createSseTransport } from './sse.ts';
import { Tokens } from './tokens.ts';
import type { FeedClient } from './feed-client.ts';
import type {
  FeedClientOptions,
  FeedEvent,
  FeedFilter,
  FeedItem,
  NotificationEvent,
  NotificationFilter,
} from './types.ts';
import { Watch, type WatchDependencies } from './watch.ts';
import { createSocketTransport } from './websocket.ts';

/**
 * A client of one reader's feed. It holds no connection: watches open one, by WebSocket one for all of them, and the last
 * that ends closes it.
 * @throws TypeError when the url is none.
 */
export function createFeedClient(options: FeedClientOptions & { readonly fields?: never }): FeedClient;
/** With a selection of its own; say what it gives: `createFeedClient<Item>({ …, fields })`. */
export function createFeedClient<Item>(
  options: FeedClientOptions & { readonly fields: string },
): FeedClient<Item>;
export function createFeedClient<Item = FeedItem>(options: FeedClientOptions): FeedClient<Item> {
  const { fields = ITEM_FIELDS } = options;
  const { request, watching } = watchesOf(options);
  // A query has one field.
  const page = async <Page>(query: string, variables: object, signal?: AbortSignal): Promise<Page> => {
    const data = await request<Readonly<Record<string, Page>> | null>(query, { ...variables }, signal);
    const [answer] = Object.values(data ?? {});
    if (answer !== undefined) return answer;
    throw protocolError('An answer without a page');
  };
  const queries = { plain: queryOf(fields), counted: queryOf(fields, true) };
  return {
    watch: ({ unread = false, ...rest }) =>
      new Watch<FeedEvent<Item>, FeedFilter>(watching(subscriptionOf(fields, unread)), rest).run(),
    feed: ({ total = false, ...variables } = {}, signal) =>
      page(total ? queries.counted : queries.plain, variables, signal),
    watchNotifications: ({ unread = false, ...rest }) =>
      new Watch<NotificationEvent, NotificationFilter>(watching(notificationEventsOf(unread)), rest).run(),
    notifications: (variables = {}, signal) => page(NOTIFICATIONS, variables, signal),
    request,
    mutations: createMutations(request),
  };
}

/** What requests and watches of one client need. */
export function watchesOf(options: FeedClientOptions) {
  const { timeoutMs = 30_000, token, tenant } = options;
  const url = absolute(options.url);
  const connect =
    options.transport === 'sse'
      ? createSseTransport({ url, timeoutMs, tenant })
      : createSocketTransport({ url, timeoutMs, tenant, webSocket: options.webSocket });
  const { firstMs = 500, maxMs = 30_000 } = options.backoff ?? {};
  const backoff = { firstMs, maxMs };
  const tell = createTell();
  const watching = (subscription: string): WatchDependencies => ({
    ...{ connect, tokens: new Tokens(token), subscription, backoff },
    ...{ retries: options.retries ?? Infinity, timeoutMs, tell },
  });
  return { request: createRequest({ url, token, timeoutMs, tenant, tell }), watching, backoff };
}

function absolute(url: string): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  return new URL(url, location?.href).href;
}
