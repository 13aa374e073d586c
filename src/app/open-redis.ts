import type { Config } from '../config/config.ts';
import { openRedisParts, type RedisParts } from '../connections/redis-parts.ts';
import { logRedisBack, logRedisLost } from '../telemetry/events/databases.ts';
import type { Logger } from '../telemetry/logger.ts';

const AT_START = 'first';

/** The key prefix lets several installations, and several databases of one, share a Redis. */
export async function openRedis(
  { redis: { url, sentinel, prefix }, mongodb }: Config,
  logger: Logger,
  waits: boolean,
): Promise<RedisParts | null> {
  if (url === undefined) return null;
  const lost = new Set<string>();
  const isLost = (what: string, err: unknown): void => {
    // A cluster has many connections, which are lost together: log once.
    if (lost.size === 0) logRedisLost(logger, { err });
    lost.add(what);
  };
  const isBack = (what: string): void => {
    if (lost.delete(what) && lost.size === 0) logRedisBack(logger);
  };
  const parts = await openRedisParts({
    ...{ url, sentinel, prefix: `${prefix}${mongodb.db}:` },
    ...(waits
      ? {
          onWaiting: (err) => {
            isLost(AT_START, err);
          },
        }
      : {}),
    onLost: (role) => {
      isLost(role, new Error(`The ${role} connection was lost`));
    },
    onReady: isBack,
  });
  isBack(AT_START);
  return parts;
}
