import { ITEM_FIELDS, queryOf, subscriptionOf } from './documents.ts';
import { protocolError } from './errors.ts';
import { createMutations } from './mutations.ts';
import { createRequest } from './request.ts';
import { createSseTransport } from './sse.ts';
import { Tokens } from './tokens.ts';
import type { FeedClient } from './feed-client.ts';
import type { FeedClientOptions, FeedItem, FeedPage } from './types.ts';
import { Watch } from './watch.ts';
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
  const { fields = ITEM_FIELDS, timeoutMs = 30_000, token, tenant } = options;
  const url = absolute(options.url);
  const connect =
    options.transport === 'sse'
      ? createSseTransport({ url, timeoutMs, tenant })
      : createSocketTransport({ url, timeoutMs, tenant, webSocket: options.webSocket });
  const { firstMs = 500, maxMs = 30_000 } = options.backoff ?? {};
  const request = createRequest({ url, token, timeoutMs, tenant });
  const queries = { plain: queryOf(fields), counted: queryOf(fields, true) };
  return {
    watch(watchOptions) {
      const { retries = Infinity } = options;
      const tokens = new Tokens(token);
      const subscription = subscriptionOf(fields, watchOptions.unread ?? false);
      return new Watch<Item>(
        { connect, tokens, subscription, backoff: { firstMs, maxMs }, retries, timeoutMs },
        watchOptions,
      ).run();
    },
    async feed({ total = false, ...variables } = {}, signal) {
      const query = total ? queries.counted : queries.plain;
      const data = await request<{ readonly feed?: FeedPage<Item> } | null>(query, { ...variables }, signal);
      if (data?.feed !== undefined) return data.feed;
      throw protocolError('An answer without a feed');
    },
    request,
    mutations: createMutations(request),
  };
}

function absolute(url: string): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  return new URL(url, location?.href).href;
}
