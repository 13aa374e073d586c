import { once } from 'node:events';
import WebSocket from 'ws';

export interface SocketMessage {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

/** How a socket was closed. */
export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** A raw socket of the protocol graphql-transport-ws, spoken word by word. Disposing cuts it. */
export interface TestSocket extends AsyncDisposable {
  readonly socket: WebSocket;
  /** Sends a message, or text that is none. */
  send(message: object | string): void;
  /** The next message that has not been taken yet. Rejects when the socket closes first. */
  next(): Promise<SocketMessage>;
  readonly closed: Promise<Closed>;
}

export async function openSocket(
  url: string,
  protocol: string | string[] = 'graphql-transport-ws',
): Promise<TestSocket> {
  const socket = new WebSocket(url, protocol);
  const messages: SocketMessage[] = [];
  const waiting: { resolve: (message: SocketMessage) => void; reject: (error: Error) => void }[] = [];
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as SocketMessage;
    const waiter = waiting.shift();
    if (waiter === undefined) messages.push(message);
    else waiter.resolve(message);
  });
  const closed = new Promise<Closed>((resolve) => {
    socket.once('close', (code, reason) => {
      for (const { reject } of waiting)
        reject(new Error(`The socket was closed: ${String(code)} ${reason.toString()}`));
      resolve({ code, reason: reason.toString() });
    });
  });
  await once(socket, 'open');
  return {
    socket,
    closed,
    send(message) {
      socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    },
    next() {
      const message = messages.shift();
      if (message !== undefined) return Promise.resolve(message);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    async [Symbol.asyncDispose]() {
      socket.terminate();
      await closed;
    },
  };
}

/** A socket past its `connection_init`. */
export async function openGreetedSocket(url: string, token: string): Promise<TestSocket> {
  const socket = await openSocket(url);
  socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
  const { type } = await socket.next();
  if (type !== 'connection_ack') throw new Error(`Expected connection_ack, got ${type}`);
  return socket;
}
