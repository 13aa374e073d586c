import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { SocketFrames } from '../../../src/http/exchange/socket-frames.ts';

/** A socket between two ends of this process, and what its client has received. */
async function openSocket() {
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const opened = new Promise<{ socket: WebSocket; stream: Duplex }>((resolve) => {
    http.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
      sockets.handleUpgrade(request, stream, head, (socket) => {
        resolve({ socket, stream });
      });
    });
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${String((http.address() as AddressInfo).port)}`);
  const received: unknown[] = [];
  client.on('message', (data: Buffer) => received.push(JSON.parse(data.toString())));
  const { socket, stream } = await opened;
  return {
    ...{ client, socket, stream, received },
    frames: new SocketFrames({ socket, stream }, '1'),
    [Symbol.asyncDispose]: async () => {
      const closed = once(socket, 'close');
      client.terminate();
      await closed;
      sockets.close();
      http.close();
    },
  };
}

const frame = (payload: unknown): object => ({ id: '1', type: 'next', payload });

test('frames of which the next one is ready leave with it, in order', async () => {
  await using opened = await openSocket();
  const { frames, socket, received } = opened;
  expect(frames.send('1', true)).toBe('sent');
  expect(frames.send('"zwölf"', true)).toBe('sent');
  expect(socket.bufferedAmount).toBeGreaterThan(0);
  expect(frames.send('3', false)).toBe('sent');
  expect(socket.bufferedAmount).toBe(0);
  await expect.poll(() => received).toEqual([frame(1), frame('zwölf'), frame(3)]);
});

test('a frame leaves in the same turn though none follows after all', async () => {
  await using opened = await openSocket();
  const { frames, socket, received } = opened;
  expect(frames.send('1', true)).toBe('sent');
  await new Promise((resolve) => setImmediate(resolve));
  expect(socket.bufferedAmount).toBe(0);
  await expect.poll(() => received).toEqual([frame(1)]);
});

test('no more gathers than 64 KiB, and a client that does not read is waited for', async () => {
  await using opened = await openSocket();
  const { client, frames, socket } = opened;
  client.pause();
  const text = JSON.stringify('x'.repeat(10_000));
  let most = 0;
  let sent: Promise<void> | 'sent' = 'sent';
  while (sent === 'sent') {
    most = Math.max(most, socket.bufferedAmount);
    sent = frames.send(text, true);
  }
  expect(most).toBeLessThan(80_000);
  client.resume();
  await sent;
  expect(socket.bufferedAmount).toBe(0);
});
