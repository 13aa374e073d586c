import { WebSocket } from 'ws';
import { now } from './statistics.ts';

/** What a watcher asks for; the action's id is the first thing it gets of an item. */
export const WATCH = `subscription Watch {
  feedEvents {
    __typename
    ... on FeedItemAdded {
      item {
        action {
          id conducted scope
          actor { memberId name }
          refs { refId type label }
          descriptor { type summary tags }
          engagement { comments likes reshares lastInteraction }
        }
        id relevancy reasons isUnread
      }
    }
    cursor
  }
}`;

/** Somebody who watches a feed by graphql-transport-ws, doing as little as possible. */
export interface Watcher {
  close(): void;
}

export interface WatcherOptions {
  readonly url: string;
  readonly token: string | null;
  readonly query: string;
  /** Called with the text of each event after the first one, and when it came. */
  readonly onEvent: (text: string, at: number) => void;
  /** The socket was closed, though nobody asked for that, or the server said something that it should not. */
  readonly onTrouble: (error: Error) => void;
}

const PROTOCOL = 'graphql-transport-ws';

/** Connects and subscribes; resolves with the first event. */
export function watch(options: WatcherOptions): Promise<Watcher> {
  const socket = new WebSocket(options.url, PROTOCOL, { perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    let isOpen = false;
    let isClosing = false;
    const trouble = (error: Error): void => {
      if (isClosing) return;
      isClosing = true;
      socket.terminate();
      if (isOpen) options.onTrouble(error);
      else reject(error);
    };
    socket.on('error', trouble);
    socket.on('close', (code, reason) => {
      trouble(new Error(`The socket was closed: ${String(code)} ${reason.toString()}`));
    });
    socket.on('open', () => {
      const payload = options.token === null ? {} : { authorization: `Bearer ${options.token}` };
      socket.send(JSON.stringify({ type: 'connection_init', payload }));
    });
    socket.on('message', (data: Buffer) => {
      const at = now();
      const text = data.toString();
      if (text.includes('"type":"next"')) {
        if (isOpen) {
          options.onEvent(text, at);
          return;
        }
        isOpen = true;
        resolve({
          close: () => {
            isClosing = true;
            socket.close(1000);
          },
        });
      } else if (text.includes('"type":"connection_ack"')) {
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: options.query } }));
      } else if (text.includes('"type":"ping"')) {
        socket.send('{"type":"pong"}');
      } else {
        trouble(new Error(`Instead of an event came ${text}`));
      }
    });
  });
}

/** The id of the action an event tells of; null when it tells of none. */
export function actionOf(text: string): string | null {
  return /"action":\{"id":"([^"]+)"/.exec(text)?.[1] ?? null;
}
