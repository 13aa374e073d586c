import { WebSocket } from 'ws';
import { now } from './statistics.ts';

/** An action as a frontend shows it: with who did it, the labels of what it was about and a line of words. */
export const SHOWN_ACTION = `id conducted scope
          actor { memberId name }
          refs { refId type label }
          descriptor { type summary tags }
          engagement { comments likes reshares lastInteraction }`;

/** What a watcher asks for; the action's id is the first thing it gets of an item. */
export const WATCH = `subscription Watch($after: String) {
  feedEvents(after: $after) {
    __typename
    ... on FeedItemAdded {
      item {
        action {
          ${SHOWN_ACTION}
        }
        id relevancy reasons isUnread
      }
    }
    cursor
  }
}`;

/** Somebody who watches a feed, doing as little as possible. */
export interface Watcher {
  close(): void;
}

export interface WatcherOptions {
  readonly url: string;
  readonly token: string | null;
  readonly query: string;
  /** The cursor of the event to go on behind; null: what is new. */
  readonly after: string | null;
  /** Called with the text of each event, and when it came. */
  readonly onEvent: (text: string, at: number) => void;
  /** The socket was closed, though nobody asked for that, or the server said something that it should not. */
  readonly onTrouble: (error: Error) => void;
}

/** Subscribes by graphql-transport-ws; resolves with the first event that brings no action. */
export function watch({ url, token, query, after, onEvent, onTrouble }: WatcherOptions): Promise<Watcher> {
  const socket = new WebSocket(url, 'graphql-transport-ws', { perMessageDeflate: false });
  socket.on('open', () => {
    const payload = token === null ? {} : { authorization: `Bearer ${token}` };
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
  });
  return opened(socket, onTrouble, (text, { ready, trouble }) => {
    if (text.includes('"type":"next"') && !text.includes('"errors":[')) {
      onEvent(text, now());
      if (actionOf(text) === null) ready();
    } else if (text.includes('"type":"connection_ack"')) {
      const payload = { query, ...(after === null ? {} : { variables: { after } }) };
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
    } else if (text.includes('"type":"ping"')) socket.send('{"type":"pong"}');
    else trouble(new Error(`Instead of an event came ${text}`));
  });
}

/** Watches the room that the token names, on a server of socket.io (engine.io 4). */
export function watchRoom({ url, token, onEvent, onTrouble }: WatcherOptions): Promise<Watcher> {
  const socket = new WebSocket(`${url}/socket.io/?EIO=4&transport=websocket`, { perMessageDeflate: false });
  return opened(socket, onTrouble, (text, { ready, trouble }) => {
    if (text.startsWith('42')) {
      onEvent(text, now());
      ready();
    } else if (text.startsWith('2')) socket.send('3');
    else if (text.startsWith('0')) socket.send(`40${JSON.stringify({ reader: token })}`);
    else if (!text.startsWith('40')) trouble(new Error(`Instead of an event came ${text}`));
  });
}

interface Opening {
  readonly ready: () => void;
  readonly trouble: (error: Error) => void;
}

function opened(
  socket: WebSocket,
  onTrouble: (error: Error) => void,
  onText: (text: string, opening: Opening) => void,
): Promise<Watcher> {
  return new Promise((resolve, reject) => {
    let isOpen = false;
    let isClosing = false;
    const trouble = (error: Error): void => {
      if (isClosing) return;
      isClosing = true;
      socket.terminate();
      if (isOpen) onTrouble(error);
      else reject(error);
    };
    const ready = (): void => {
      isOpen = true;
      resolve({
        close: () => {
          isClosing = true;
          socket.close(1000);
        },
      });
    };
    socket.on('error', trouble);
    socket.on('close', (code, reason) => {
      trouble(new Error(`The socket was closed: ${String(code)} ${reason.toString()}`));
    });
    socket.on('message', (data: Buffer) => {
      if (!isClosing) onText(data.toString(), { ready, trouble });
    });
  });
}

/** The id of the action an event tells of; null when it tells of none. */
export function actionOf(text: string): string | null {
  return /"action":\{"id":"([^"]+)"/.exec(text)?.[1] ?? null;
}
