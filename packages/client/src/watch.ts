import { backoffMs, pause, type Backoff } from './backoff.ts';
import { answerError, FeedClientError, networkError, protocolError } from './errors.ts';
import type { Tokens } from './tokens.ts';
import type { Answer, Transport } from './transport.ts';
import type { WatchedList, Watching } from './types.ts';
import { within } from './within.ts';

interface WatchDependencies {
  readonly connect: Transport;
  readonly tokens: Tokens;
  readonly subscription: string;
  readonly backoff: Backoff;
  readonly retries: number;
  /** How long the token function may take. */
  readonly timeoutMs: number;
  readonly tell?: (error: unknown) => void;
}

/** Whatever is watched, its messages have these two: a name, which ends the same way for the same purpose, and a cursor. */
export interface Named {
  readonly __typename: string;
  readonly cursor: string;
}
type Ready = Named & { readonly __typename: `${string}Ready` };
type Resync = Named & { readonly __typename: `${string}Resync`; readonly reason: string };

/** One watch, from connection to connection. */
export class Watch<Event extends Named, Filter> {
  readonly #with: WatchDependencies;
  readonly #options: Watching<Event, Filter> & WatchedList;
  readonly #signal: AbortSignal;
  /** Of the last message that was handed over. */
  #cursor: string | undefined;
  /** Attempts in a row that led to nothing. */
  #failures = 0;
  /** Whether this connection has got as far as the one before, and waits for news. */
  #isSettled = false;
  /** Whether a callback threw what no further attempt would mend. */
  #hasThrown = false;

  constructor(dependencies: WatchDependencies, options: Watching<Event, Filter> & WatchedList) {
    this.#with = dependencies;
    this.#options = options;
    this.#signal = options.signal ?? new AbortController().signal;
    this.#cursor = options.after;
  }

  async run(): Promise<void> {
    const { backoff, retries, tokens } = this.#with;
    while (!this.#signal.aborted) {
      const error = await this.#connect();
      if (this.#hasEnded()) return;
      if (error.code === 'UNAUTHENTICATED' && tokens.refused()) continue;
      // A connection that was lost in peace is no failed attempt; one that breaks at the same event every time is.
      if (this.#isSettled && error.code === 'NETWORK') this.#failures = 0;
      this.#failures += 1;
      if (!error.isTemporary || this.#failures > retries) throw error;
      this.#options.onState?.('waiting', error);
      await pause(backoffMs(backoff, this.#failures), this.#signal);
    }
  }

  /** Asked again after every wait. */
  #hasEnded(): boolean {
    return this.#signal.aborted;
  }

  /** Why the connection is over. Throws what the callbacks threw. */
  async #connect(): Promise<FeedClientError> {
    const { connect, tokens, subscription, timeoutMs } = this.#with;
    const { filter, view, listId, refId, actionId, onState } = this.#options;
    this.#isSettled = false;
    onState?.('connecting');
    try {
      const token = await within(timeoutMs, this.#signal, (until) => tokens.next(until));
      const variables = { after: this.#cursor, filter, view, listId, refId, actionId };
      for await (const answer of connect({ query: subscription, variables }, token, this.#signal)) {
        if (this.#hasEnded()) break;
        await this.#take(answer);
      }
      return networkError('The server ended the subscription');
    } catch (error) {
      this.#with.tell?.(error);
      if (error instanceof FeedClientError && !this.#hasThrown) return error;
      throw error;
    }
  }

  async #take({ data, errors }: Answer): Promise<void> {
    const { onEvent, onResync, onState } = this.#options;
    // A subscription has one field. With data, what failed is a field that may be null; to refuse the event would lose it.
    const [message] = Object.values((data ?? {}) as Readonly<Record<string, Event | Ready | Resync | null>>);
    if (message == null)
      throw errors === undefined ? protocolError('A result without an event') : answerError(errors);
    if (isReady(message)) {
      this.#with.tokens.accepted();
      onState?.('live');
      if (this.#cursor === undefined) await this.#handOver(message, () => onResync('opened', message.cursor));
      else this.#isSettled = true;
    } else if (isResync(message))
      await this.#handOver(message, () => onResync(message.reason, message.cursor));
    else await this.#handOver(message, () => onEvent(message));
  }

  async #handOver({ cursor }: Named, call: () => void | Promise<void>): Promise<void> {
    if (this.#hasEnded()) return;
    this.#isSettled = false;
    try {
      await call();
    } catch (error) {
      this.#hasThrown = !(error instanceof FeedClientError && error.isTemporary);
      throw error;
    }
    this.#cursor = cursor;
    this.#failures = 0;
    this.#isSettled = true;
  }
}

function isReady(message: Named): message is Ready {
  return message.__typename.endsWith('Ready');
}

function isResync(message: Named): message is Resync {
  return message.__typename.endsWith('Resync');
}
