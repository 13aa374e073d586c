import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { SocketFrames, SocketWriter } from '../../../src/http/exchange/socket-frames.ts';
import { toByteText } from '../../../src/lib/byte-text.ts';

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
  const writer = new SocketWriter({ socket, stream });
  return {
    ...{ client, socket, stream, received, writer },
    frames: new SocketFrames(writer, '1'),
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

test('sends frames that are ready together, in order', async () => {
  await using opened = await openSocket();
  const { frames, stream, received } = opened;
  const write = vi.spyOn(stream, 'write');
  expect(frames.send('1', true)).toBe('sent');
  expect(frames.send(toByteText('"zwölf"'), true)).toBe('sent');
  expect(write).not.toHaveBeenCalled();
  expect(frames.send('3', false)).toBe('sent');
  expect(write).toHaveBeenCalledTimes(1);
  await expect.poll(() => received).toEqual([frame(1), frame('zwölf'), frame(3)]);
});

test('sends a frame in the same turn if no other follows after all', async () => {
  await using opened = await openSocket();
  const { frames, socket, received } = opened;
  expect(frames.send('1', true)).toBe('sent');
  await new Promise((resolve) => setImmediate(resolve));
  expect(socket.bufferedAmount).toBe(0);
  await expect.poll(() => received).toEqual([frame(1)]);
});

test('sends protocol messages behind earlier frames', async () => {
  await using opened = await openSocket();
  const { frames, writer, received } = opened;
  expect(frames.send('1', true)).toBe('sent');
  expect(writer.write('{"id":"1","type":"complete"}', false)).toBe('sent');
  expect(frames.send('2', false)).toBe('sent');
  await expect.poll(() => received).toEqual([frame(1), { id: '1', type: 'complete' }, frame(2)]);
});

test('frames of every length arrive unchanged', async () => {
  await using opened = await openSocket();
  const { frames, received } = opened;
  const around = JSON.stringify(frame('')).length;
  const texts = [0, 1, 125 - around, 126 - around, 65_535 - around, 65_536 - around, 200_000].map((length) =>
    'x'.repeat(length),
  );
  const unusual = ['ü', '👍\u2028\n"', '\u0000\u007f\u0080\u00ff', 'ж'.repeat(40_000)];
  for (const text of [...texts, ...unusual]) await frames.send(toByteText(JSON.stringify(text)), false);
  await expect.poll(() => received).toEqual([...texts, ...unusual].map(frame));
});

test('sends nothing that is ready after the close frame', async () => {
  await using opened = await openSocket();
  const { frames, socket, client } = opened;
  const closed = once(client, 'close');
  expect(frames.send('1', true)).toBe('sent');
  socket.close(4403, 'over');
  expect(await closed).toEqual([4403, Buffer.from('over')]);
  expect(frames.send('2', false)).toBe('sent');
});

test('gathers at most 64 KiB, and waits for a client that does not read', async () => {
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
