import { WebSocket } from 'ws';
import { now } from './statistics.ts';
import type { Watcher, WatcherOptions } from './watcher.ts';

/** The first character of a message of engine.io 4, and what socket.io says in one. */
const OPEN = '0';
const PING = '2';
const CONNECTED = '40';
const EVENT = '42';

/** Somebody who watches the room of their own on a server of socket.io, doing as little as possible; the token names it. */
export function watchRoom({
  url,
  token,
  onEvent,
  onTrouble,
}: Omit<WatcherOptions, 'query'>): Promise<Watcher> {
  const socket = new WebSocket(`${url}/socket.io/?EIO=4&transport=websocket`, { perMessageDeflate: false });
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
    socket.on('error', trouble);
    socket.on('close', (code) => {
      trouble(new Error(`The socket was closed: ${String(code)}`));
    });
    socket.on('message', (data: Buffer) => {
      const at = now();
      const text = data.toString();
      if (text.startsWith(EVENT)) {
        if (isOpen) {
          onEvent(text, at);
          return;
        }
        isOpen = true;
        resolve({
          close: () => {
            isClosing = true;
            socket.close(1000);
          },
        });
      } else if (text.startsWith(PING)) socket.send('3');
      else if (text.startsWith(OPEN)) socket.send(`${CONNECTED}${JSON.stringify({ reader: token })}`);
      else if (!text.startsWith(CONNECTED)) trouble(new Error(`Instead of an event came ${text}`));
    });
  });
}
