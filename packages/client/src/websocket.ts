import { createClient } from 'graphql-ws/client';
import { answerError, FeedClientError, networkError, protocolError, type AnswerError } from './errors.ts';
import { Inbox } from './inbox.ts';
import { Silence } from './silence.ts';
import { isAnswer, type Answer, type Transport } from './transport.ts';
import type { WebSocketConstructor } from './types.ts';

export interface SocketOptions {
  readonly url: string;
  readonly timeoutMs: number;
  readonly webSocket: WebSocketConstructor | undefined;
}

/** Results that wait for a slow taker. With more the connection is left; it resumes where the taker is. */
const MAX_WAITING = 1_000;
const CONNECTING = 0;

/**
 * Subscriptions by the protocol graphql-transport-ws, each on a socket of its own. graphql-ws must not connect again on
 * its own: it would subscribe with the cursor of the beginning.
 */
export function createSocketTransport({ url, timeoutMs, webSocket }: SocketOptions): Transport {
  return async function* subscribe(operation, token, signal) {
    const inbox = new Inbox<Answer>();
    const Socket = webSocket ?? globalWebSocket();
    const sockets: InstanceType<WebSocketConstructor>[] = [];
    const silence = new Silence(() => {
      inbox.end(networkError('The server does not answer'));
      leave();
    });
    const client = createClient({
      url: url.replace(/^http/, 'ws'),
      connectionParams: { authorization: `Bearer ${token}` },
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
          inbox.end(lossOf(event));
          leave();
        },
      },
    });
    const unsubscribe = client.subscribe(operation, {
      next: (result) => {
        if (!isAnswer(result)) inbox.end(protocolError('The socket speaks no GraphQL'));
        else if (inbox.size >= MAX_WAITING) inbox.end(networkError('Events come faster than they are taken'));
        else inbox.push(result);
      },
      error: (reason) => {
        inbox.end(lossOf(reason));
      },
      complete: () => {
        inbox.end('complete');
      },
    });
    function leave(): void {
      silence.stop();
      unsubscribe();
      // graphql-ws closes what is open, once nobody subscribes on it.
      for (const socket of sockets) if (socket.readyState === CONNECTING) socket.close();
    }
    const abort = (): void => {
      inbox.end(networkError('The socket was left'));
      leave();
    };
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    try {
      yield* inbox;
    } finally {
      signal.removeEventListener('abort', abort);
      leave();
    }
  };
}

function globalWebSocket(): WebSocketConstructor {
  const { WebSocket } = globalThis as { readonly WebSocket?: WebSocketConstructor };
  if (WebSocket !== undefined) return WebSocket;
  throw protocolError('There is no global WebSocket: give `webSocket`, or use the transport "sse"');
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
    if (UNAUTHENTICATED.has(reason.code)) return new FeedClientError('UNAUTHENTICATED', message);
    if (SENSELESS.has(reason.code)) return protocolError(message);
    return networkError(message);
  }
  return networkError('The socket has failed', reason);
}

function isCloseEvent(value: unknown): value is { readonly code: number; readonly reason: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    typeof value.code === 'number' &&
    'reason' in value
  );
}
