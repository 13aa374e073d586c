import type { RedisClient } from './redis.ts';

/**
 * Has a local Redis, which is at a socket, begin a new file of what it keeps, without what was deleted. Does nothing on any other
 * server, and where no file is kept.
 * @throws when it writes such a file already, which may have begun too early.
 */
export async function forgetDeletedKeys(commands: RedisClient): Promise<void> {
  if (commands.options.path === undefined) return;
  if (/^aof_enabled:1/m.test(await commands.info('persistence'))) await commands.bgrewriteaof();
}
