import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import { WebSocketServer } from 'ws';

/**
 * The least that can push to readers one by one: a message is for all of them, and each socket gets it with a cursor of
 * its own in it, as one string.
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
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  console.log(`Sockets ws://127.0.0.1:${String(address.port)}`);
});
