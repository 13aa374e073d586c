import { createClient } from 'graphql-ws/client';
import { answerError, FeedClientError, networkError, protocolError, type AnswerError } from './errors.ts';
import { Inbox } from './inbox.ts';
import { tenantIn } from './post.ts';
import { Silence } from './silence.ts';
import { isAnswer, type Answer, type Operation } from './transport.ts';
import type { WebSocketConstructor } from './types.ts';

export interface SharedSocketOptions {
  readonly url: string;
  readonly token: string;
  readonly timeoutMs: number;
  readonly tenant?: string | undefined;
  readonly webSocket: WebSocketConstructor;
  /** The socket is over, or nobody is left on it: the next subscription needs another. */
  readonly onEnd: () => void;
}

/** One subscription on a socket. */
export interface Line {
  readonly inbox: Inbox<Answer>;
  readonly leave: () => void;
}

/** Results that wait for a slow taker. With more the subscription is left; it resumes where the taker is. */
const MAX_WAITING = 1_000;
const CONNECTING = 0;

/**
 * One connection by the protocol graphql-transport-ws for all subscriptions with one token. graphql-ws must not connect
 * again on its own: it would subscribe with the cursors of the beginning.
 */
export class SharedSocket {
  readonly #options: SharedSocketOptions;
  readonly #lines = new Set<Line>();
  readonly #sockets: InstanceType<WebSocketConstructor>[] = [];
  readonly #silence: Silence;
  readonly #client: ReturnType<typeof createClient>;
  #isOver = false;

  constructor(options: SharedSocketOptions) {
    this.#options = options;
    this.#silence = new Silence(() => {
      this.#end(networkError('The server does not answer'));
    });
    this.#client = this.#createClient();
  }

  subscribe(operation: Operation): Line {
    const inbox = new Inbox<Answer>();
    const line: Line = {
      inbox,
      leave: () => {
        if (!this.#lines.delete(line)) return;
        unsubscribe();
        if (this.#lines.size === 0) this.#close();
      },
    };
    this.#lines.add(line);
    const unsubscribe = this.#client.subscribe(
      { ...operation },
      {
        next: (result) => {
          if (!isAnswer(result)) inbox.end(protocolError('The server speaks no GraphQL'));
          else if (inbox.size >= MAX_WAITING) inbox.end(networkError('Events come faster than taken'));
          else inbox.push(result);
        },
        error: (reason) => {
          inbox.end(lossOf(reason));
        },
        complete: () => {
          inbox.end('complete');
        },
      },
    );
    return line;
  }

  #createClient(): ReturnType<typeof createClient> {
    const { url, token, timeoutMs, tenant, webSocket: Socket } = this.#options;
    const silence = this.#silence;
    const sockets = this.#sockets;
    return createClient({
      url: url.replace(/^http/, 'ws'),
      connectionParams: { authorization: `Bearer ${token}`, ...tenantIn(tenant) },
      webSocketImpl: class extends Socket {
        constructor(address: string, protocols?: string | string[]) {
          super(address, protocols);
          sockets.push(this);
        }
      },
      retryAttempts: 0,
      keepAlive: timeoutMs / 2,
      on: {
        connecting: () => {
          silence.listen(timeoutMs);
        },
        connected: () => {
          silence.stop();
        },
        ping: (isReceived) => {
          if (!isReceived) silence.listen(timeoutMs / 2);
        },
        pong: (isReceived) => {
          if (isReceived) silence.stop();
        },
        // Also of a normal closure, after which graphql-ws would connect again whatever the attempts.
        closed: (event) => {
          this.#end(lossOf(event));
        },
      },
    });
  }

  #end(error: FeedClientError): void {
    const lines = [...this.#lines];
    for (const { inbox } of lines) inbox.end(error);
    for (const { leave } of lines) leave();
    this.#close();
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd();
    this.#silence.stop();
    // graphql-ws closes what is open, once nobody subscribes on it.
    for (const socket of this.#sockets) if (socket.readyState === CONNECTING) socket.close();
  }
}

/** Close codes that say the token is none (any more), and those that the next attempt would get as well. */
const UNAUTHENTICATED: ReadonlySet<number> = new Set([4401, 4403]);
const SENSELESS: ReadonlySet<number> = new Set([
  1002, 1003, 1007, 1009, 1010, 4004, 4005, 4400, 4406, 4409, 4429,
]);

/** @param reason errors of the operation, the close event of the socket, its error event, or an error */
function lossOf(reason: unknown): FeedClientError {
  if (Array.isArray(reason)) return answerError(reason as AnswerError[]);
  if (isCloseEvent(reason)) {
    const message = `The socket was closed: ${String(reason.code)} ${reason.reason}`.trimEnd();
    if (UNAUTHENTICATED.has(reason.code))
      return new FeedClientError('UNAUTHENTICATED', reason.reason === '' ? message : reason.reason);
    if (SENSELESS.has(reason.code)) return protocolError(message);
    return networkError(message);
  }
  return networkError('The socket has failed', reason);
}

function isCloseEvent(value: unknown): value is { readonly code: number; readonly reason: string } {
  // An error of Node has a code as well, which is a text.
  return typeof (value as { readonly code?: unknown } | null | undefined)?.code === 'number';
}
