import {
  clientFields,
  itemFields,
  notificationEventsOf,
  notificationsOf,
  queryOf,
  subscriptionOf,
} from './documents.ts';
import { actionEventsOf, sliceEventsOf } from './list-documents.ts';
import { protocolError, tell } from './errors.ts';
import { createMutations } from './mutations.ts';
import { OneReader } from './one-reader.ts';
import { createRequest } from './request.ts';
import { createSseTransport } from './sse.ts';
import { Tokens } from './tokens.ts';
import type { FeedClient } from './feed-client.ts';
import type { ClientFields, Fields } from './fields.ts';
import type { ActionFilter } from './mutation-types.ts';
import type { ActionEvent, SliceEvent } from './list-types.ts';
import type {
  FeedClientOptions,
  FeedEvent,
  FeedFilter,
  FeedItem,
  NotificationEvent,
  NotificationFilter,
  WatchedList,
  Watching,
} from './types.ts';
import { Watch, type Named } from './watch.ts';
import { createSocketTransport } from './websocket.ts';

/**
 * A client of one reader's feed. It holds no connection: watches open one, by WebSocket one for all of them, and the last
 * that ends closes it.
 * @throws TypeError when the url is none.
 */
export function createFeedClient(options: FeedClientOptions & { readonly fields?: Fields }): FeedClient;
/** With another selection or with more; say what it gives: `createFeedClient<Item>({ …, fields })`. */
export function createFeedClient<Item>(
  options: FeedClientOptions & { readonly fields: string | ClientFields },
): FeedClient<Item>;
export function createFeedClient<Item = FeedItem>(options: FeedClientOptions): FeedClient<Item> {
  const fields = clientFields(options.fields);
  const selected = itemFields(fields);
  const { request, watch, reader } = watchesOf(options);
  // A query has one field.
  const page = async <Page>(query: string, variables: object, signal?: AbortSignal): Promise<Page> => {
    const data = await request<Readonly<Record<string, Page>> | null>(query, { ...variables }, signal);
    const [answer] = Object.values(data ?? {});
    if (answer !== undefined) return answer;
    throw protocolError('An answer without a page');
  };
  const queries = { plain: queryOf(selected), counted: queryOf(selected, true) };
  return {
    watch: ({ unread = false, ...rest }) =>
      watch<FeedEvent<Item>, FeedFilter>(subscriptionOf(selected, unread), rest),
    feed: ({ total = false, ...variables } = {}, signal) =>
      page(total ? queries.counted : queries.plain, variables, signal),
    watchNotifications: ({ unread = false, ...rest }) =>
      watch<NotificationEvent, NotificationFilter>(notificationEventsOf(fields, unread), rest),
    watchSlice: (watching) => watch<SliceEvent, ActionFilter>(sliceEventsOf(fields), watching),
    watchAction: (watching) => watch<ActionEvent, never>(actionEventsOf(fields), watching),
    notifications: (variables = {}, signal) => page(notificationsOf(fields), variables, signal),
    fields,
    request,
    mutations: createMutations(request, reader, fields),
    get reader() {
      return reader.signal;
    },
    get language() {
      return reader.language;
    },
    close: () => {
      reader.close();
    },
  };
}

/** What requests and watches of one client need. */
export function watchesOf(options: FeedClientOptions) {
  const { timeoutMs = 30_000, token, tenant } = options;
  const reader = new OneReader();
  const server = { url: absolute(options.url), timeoutMs, tenant, reader };
  const connect =
    options.transport === 'sse'
      ? createSseTransport(server)
      : createSocketTransport(server, options.webSocket);
  const { firstMs = 500, maxMs = 30_000 } = options.backoff ?? {};
  const backoff = { firstMs, maxMs };
  const watch = <Event extends Named, Filter>(
    subscription: string,
    watching: Watching<Event, Filter> & WatchedList,
  ): Promise<void> => {
    const dependencies = {
      ...{ connect, tokens: new Tokens(token), subscription, backoff },
      ...{ retries: options.retries ?? Infinity, timeoutMs, tell },
    };
    return reader.during(watching.signal, (signal) =>
      new Watch<Event, Filter>(dependencies, { ...watching, signal }).run(),
    );
  };
  return { request: createRequest(server, { token, tell }), watch, reader, backoff };
}

function absolute(url: string): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  return new URL(url, location?.href).href;
}
