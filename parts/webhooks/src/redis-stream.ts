import { connectRedis } from '../../../src/connections/redis.ts';
import type { StreamAddress } from '../../../src/domain/stream-address.ts';
import type { EventStream } from './event-stream.ts';

/** Entries with the fields `id` and `event`. The connection comes back on its own. */
export async function openRedisStream(
  { server, stream, shown }: StreamAddress,
  timeoutMs: number,
): Promise<EventStream> {
  const connections = await connectRedis({
    ...{ url: server, name: 'fanfare-events', commandTimeoutMs: timeoutMs, connectTimeoutMs: timeoutMs },
  });
  const { commands } = connections;
  return {
    async put({ id, body }) {
      if (commands.status !== 'ready') throw new Error(`There is no connection for ${shown}`);
      await commands.xadd(stream, '*', 'id', id, 'event', body);
    },
    isLost: () => false,
    close: () => connections.close(),
  };
}
