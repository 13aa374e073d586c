import { WebSocket } from 'ws';
import { answerError } from '../../packages/client/src/errors.ts';
import { ITEM_FIELDS, subscriptionOf } from '../../packages/client/src/documents.ts';
import { createSseTransport } from '../../packages/client/src/sse.ts';
import { OneReader } from '../../packages/client/src/one-reader.ts';
import type { Transport } from '../../packages/client/src/transport.ts';
import type { FeedEvent } from '../../packages/client/src/types.ts';
import { createSocketTransport } from '../../packages/client/src/websocket.ts';

export type TransportMessage =
  | FeedEvent
  | { readonly __typename: 'FeedReady'; readonly cursor: string }
  | { readonly __typename: 'FeedResync'; readonly cursor: string; readonly reason: string };

/** One subscription on one connection: nothing is tried again. Disposing leaves it. */
export interface TransportStream extends AsyncDisposable {
  /** The next message. Rejects with the FeedClientError that ended the subscription. */
  next(): Promise<TransportMessage>;
  /** Ends the connection from this side. */
  abort(): void;
}

export interface StreamOptions {
  readonly token: string;
  readonly after?: string;
  readonly filter?: object;
  /** Instead of the whole subscription. */
  readonly document?: string;
}

const serverAt = (url: string) => ({ url, timeoutMs: 60_000, reader: new OneReader() });
const MAKERS = {
  WebSocket: (url: string) => createSocketTransport(serverAt(url), WebSocket),
  SSE: (url: string) => createSseTransport(serverAt(url)),
} satisfies Readonly<Record<string, (url: string) => Transport>>;

export type TransportName = keyof typeof MAKERS;
export const TRANSPORT_NAMES = Object.keys(MAKERS) as readonly TransportName[];

export function openStream(
  name: TransportName,
  server: { readonly url: string },
  { token, document = subscriptionOf(ITEM_FIELDS, false), ...variables }: StreamOptions,
): TransportStream {
  const abort = new AbortController();
  const connect = MAKERS[name](`${server.url}/graphql`);
  const answers = connect({ query: document, variables }, token, abort.signal);
  return {
    async next() {
      const { done, value } = await answers.next();
      if (done === true) throw new Error('The subscription was completed');
      if (value.errors !== undefined) throw answerError(value.errors);
      return (value.data as { readonly feedEvents: TransportMessage }).feedEvents;
    },
    abort: () => {
      abort.abort();
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await answers.return?.();
    },
  };
}
