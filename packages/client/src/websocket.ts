import { networkError, protocolError } from './errors.ts';
import type { Server } from './post.ts';
import { SharedSocket } from './shared-socket.ts';
import type { Transport } from './transport.ts';
import type { WebSocketConstructor } from './types.ts';

/** Subscriptions by WebSocket: all that have the same token share one. */
export function createSocketTransport(
  server: Server,
  webSocket: WebSocketConstructor | undefined,
): Transport {
  const open = new Map<string, SharedSocket>();

  function socketFor(token: string): SharedSocket {
    const socket =
      open.get(token) ??
      new SharedSocket({
        ...{ server, token, webSocket: webSocket ?? globalWebSocket() },
        onTaken: (said) => {
          server.reader.check((name) => said[name]);
        },
        onEnd: () => {
          if (open.get(token) === socket) open.delete(token);
        },
      });
    open.set(token, socket);
    return socket;
  }

  return async function* subscribe(operation, token, signal) {
    if (signal.aborted) throw networkError('The subscription was left');
    const { inbox, leave } = socketFor(token).subscribe(operation);
    const abort = (): void => {
      inbox.end(networkError('The subscription was left'));
      leave();
    };
    signal.addEventListener('abort', abort);
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
  throw protocolError('There is no WebSocket: give `webSocket`, or the transport "sse"');
}
