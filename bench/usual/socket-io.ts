import { createServer } from 'node:http';
import { createAdapter } from '@socket.io/redis-adapter';
import { Redis } from 'ioredis';
import { Server } from 'socket.io';
import { answer } from '../programs/answer.ts';
import { listen } from '../programs/listen.ts';

/** Events by socket.io as they are usually pushed: its Redis adapter, and a room for each reader. */
export interface RoomsApi {
  readonly [name: string]: (argument: never) => unknown;
  /** Emits an event to the room of each reader, on all servers. */
  readonly emit: (event: { readonly readers: readonly string[]; readonly texts: readonly string[] }) => void;
}

const [redisUrl = '', isEmitter = ''] = process.argv.slice(2);
const server = createServer();
const publisher = new Redis(redisUrl);
const io = new Server(server, {
  ...{ transports: ['websocket'], perMessageDeflate: false, serveClient: false },
  adapter: createAdapter(publisher, publisher.duplicate()),
});
io.on('connection', (socket) => {
  void socket.join(String(socket.handshake.auth['reader']));
  // As much as a client needs to believe that it is subscribed.
  socket.emit('event', 'opened');
});
const api: RoomsApi = {
  emit: ({ readers, texts }) => {
    for (const text of texts) for (const reader of readers) io.to(reader).emit('event', JSON.parse(text));
  },
};
answer(api);
if (isEmitter === 'emitter') {
  process.channel?.ref();
  console.log('Emitter ready');
} else listen(server, (place) => `Sockets ws://${place}`);
