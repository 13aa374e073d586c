import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import { WebSocketServer } from 'ws';
import { listen } from './listen.ts';

/**
 * The least that can push: whatever comes on a Redis channel goes to every socket, with a text of its own in place of the gap.
 */
const [redisUrl = '', channel = '', gap = ''] = process.argv.slice(2);
const server = createServer();
const sockets = new WebSocketServer({
  server,
  perMessageDeflate: false,
  handleProtocols: () => 'graphql-transport-ws',
});
sockets.on('connection', (socket) => {
  // As much of the protocol as a client needs to believe that it is subscribed.
  socket.on('message', (data: Buffer) => {
    const text = data.toString();
    if (text.includes('connection_init')) socket.send('{"type":"connection_ack"}');
    if (text.includes('subscribe')) socket.send('{"id":"1","type":"next","payload":{}}');
  });
});
const subscriber = new Redis(redisUrl);
let sent = 0;
subscriber.on('message', (_channel: string, message: string) => {
  const [before = '', after = ''] = message.split(gap);
  for (const socket of sockets.clients)
    socket.send(before + String(sent++).padStart(gap.length, '0') + after);
});
await subscriber.subscribe(channel);
listen(server, (place) => `Sockets ws://${place}`);
