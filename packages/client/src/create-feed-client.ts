import { ITEM_FIELDS, queryOf, subscriptionOf } from './documents.ts';
import { answerError, protocolError } from './errors.ts';
import { answerOf, post } from './post.ts';
import { createSseTransport } from './sse.ts';
import { Tokens } from './tokens.ts';
import type { FeedClient, FeedClientOptions, FeedItem, FeedPage, FeedQuery } from './types.ts';
import { Watch } from './watch.ts';
import { createSocketTransport } from './websocket.ts';

/**
 * A client of one reader's feed. It holds no connection: each watch opens its own and closes it.
 * @throws TypeError when the url is none.
 */
export function createFeedClient(options: FeedClientOptions & { readonly fields?: never }): FeedClient;
/** With a selection of its own; say what it gives: `createFeedClient<Item>({ …, fields })`. */
export function createFeedClient<Item>(
  options: FeedClientOptions & { readonly fields: string },
): FeedClient<Item>;
export function createFeedClient<Item = FeedItem>(options: FeedClientOptions): FeedClient<Item> {
  const { fields = ITEM_FIELDS, timeoutMs = 30_000, token } = options;
  const url = absolute(options.url);
  const connect =
    options.transport === 'sse'
      ? createSseTransport({ url, timeoutMs })
      : createSocketTransport({ url, timeoutMs, webSocket: options.webSocket });
  const { firstMs = 500, maxMs = 30_000 } = options.backoff ?? {};
  const query = queryOf(fields);
  return {
    watch(watchOptions) {
      const { retries = Infinity } = options;
      const tokens = new Tokens(token);
      const subscription = subscriptionOf(fields, watchOptions.unread ?? false);
      return new Watch<Item>(
        { connect, tokens, subscription, backoff: { firstMs, maxMs }, retries },
        watchOptions,
      ).run();
    },
    feed: (variables = {}) => readFeed<Item>({ url, tokens: new Tokens(token), query, timeoutMs }, variables),
  };
}

interface ReadDependencies {
  readonly url: string;
  readonly tokens: Tokens;
  readonly query: string;
  readonly timeoutMs: number;
}

async function readFeed<Item>(
  { url, tokens, query, timeoutMs }: ReadDependencies,
  variables: FeedQuery,
): Promise<FeedPage<Item>> {
  for (;;) {
    const response = await post({
      url,
      token: await tokens.next(),
      operation: { query, variables: { ...variables } },
      accept: 'application/json',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { data, errors } = await answerOf(response);
    if (errors === undefined) {
      const page = (data as { readonly feed?: FeedPage<Item> } | null | undefined)?.feed;
      if (page !== undefined) return page;
      throw protocolError('An answer without a feed');
    }
    const error = answerError(errors);
    if (error.code !== 'UNAUTHENTICATED' || !tokens.refused()) throw error;
  }
}

function absolute(url: string): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  return new URL(url, location?.href).href;
}
