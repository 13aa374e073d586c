import { randomUUID } from 'node:crypto';
import { RedisLiveLog, type RedisLiveLogOptions } from '../../src/live/redis-live-log.ts';
import { connectRedis, type RedisConnections } from '../../src/connections/redis.ts';

/** One log with connections and, unless given, a prefix of its own. */
export interface RedisLogFixture extends AsyncDisposable {
  readonly log: RedisLiveLog;
  readonly redis: RedisConnections;
  readonly prefix: string;
  /** What the log reported as trouble, in order. */
  readonly troubles: string[];
  /** Names of the keys under the prefix, without it. */
  keys(): Promise<string[]>;
  /** Names of the channels under the prefix that somebody subscribes to. */
  channels(): Promise<string[]>;
  /** Listeners on both connections. */
  listeners(): number;
}

export type RedisLogOptions = Partial<Omit<RedisLiveLogOptions, 'redis' | 'onTrouble'>> & {
  readonly url: string;
  readonly commandTimeoutMs?: number;
};

export async function openRedisLog(options: RedisLogOptions): Promise<RedisLogFixture> {
  const { url, commandTimeoutMs = 2000, prefix = `test:${randomUUID()}:`, ...limits } = options;
  const redis = await connectRedis({ url, commandTimeoutMs });
  const troubles: string[] = [];
  let log: RedisLiveLog;
  try {
    log = new RedisLiveLog({ ...limits, redis, prefix, onTrouble: (what) => troubles.push(what) });
  } catch (error) {
    await redis.close();
    throw error;
  }
  return {
    log,
    redis,
    prefix,
    troubles,
    keys: async () => (await redis.commands.keys(`${prefix}*`)).map((key) => key.slice(prefix.length)),
    channels: async () => (await redis.commands.pubsub('CHANNELS', `${prefix}*`)).map(String),
    listeners: () =>
      [redis.commands, redis.subscriber].reduce(
        (total, client) =>
          total + client.eventNames().reduce((sum, name) => sum + client.listenerCount(name), 0),
        0,
      ),
    [Symbol.asyncDispose]: async () => {
      await log[Symbol.asyncDispose]();
      await redis.close();
    },
  };
}
