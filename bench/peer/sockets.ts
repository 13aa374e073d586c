import { createServer } from 'node:http';
import { requirePeer } from './manager.ts';
import { listen } from '../programs/listen.ts';

interface Message {
  readonly channel: string;
}
interface SocketServer {
  adapter(adapter: unknown): void;
  emit(channel: string, message: unknown): void;
  on(
    event: 'connection',
    listener: (socket: { on(event: 'firehose', listener: (message: Message) => void): void }) => void,
  ): void;
}

/** The peer's socket server, as in its own benchmark: passes on to the channel what the workers tell. */
const redisUrl = process.argv[2] ?? '';
const server = createServer();
const sockets = (requirePeer('socket.io') as (server: object) => SocketServer)(server);
const adapterOf = requirePeer('socket.io-redis') as (url: string) => unknown;
sockets.adapter(adapterOf(redisUrl));
sockets.on('connection', (socket) => {
  socket.on('firehose', (message) => {
    sockets.emit(message.channel, message);
  });
});
listen(server, (place) => `Sockets http://${place}`);
