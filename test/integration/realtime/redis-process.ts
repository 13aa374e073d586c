import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedisServer, type RedisServer } from '../../../packages/local-engine/src/services.ts';
import { testCacheDir } from '../../support/engine.ts';

/** A Redis for one test, to be killed and restarted, in a folder that goes with it. */
export async function startRedisProcess(): Promise<RedisServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'fanfare-redis-'));
  const { PATH: path = '' } = process.env;
  const server = await startRedisServer({
    dataDir,
    cacheDir: testCacheDir(),
    durability: 'fast',
    path,
    onEvent: () => undefined,
  });
  const stop = server[Symbol.asyncDispose].bind(server);
  return Object.assign(server, {
    [Symbol.asyncDispose]: async () => {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  });
}
