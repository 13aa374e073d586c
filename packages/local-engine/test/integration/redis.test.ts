import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startRedisServer } from '../../src/services.ts';
import { findTree } from '../../src/tree/ensure-tree.ts';
import { DOCUMENTDB_RECIPE } from '../../src/tree/recipe.ts';
import { testCacheDir } from '../../../../test/support/engine.ts';
import { PATH, TOOLS, pathWithOnly, testFolder } from './support.ts';

async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  try {
    return await work(redis);
  } finally {
    await redis.quit();
  }
}

const set = (url: string) => withRedis(url, (redis) => redis.set('key', 'value'));
const get = (url: string) => withRedis(url, (redis) => redis.get('key'));

test('restarts on the same socket after it was killed, with its data', async () => {
  await using folder = testFolder();
  await using server = await startRedisServer({
    dataDir: folder.path,
    cacheDir: testCacheDir(),
    durability: 'durable',
    path: PATH,
  });
  const { url, pid } = server;
  await set(url);
  await server.kill();
  await expect(withRedis(`${url}&maxRetriesPerRequest=0`, (redis) => refused(redis))).resolves.toMatch(
    'ECONNREFUSED',
  );
  await server.restart();
  expect(server.url).toBe(url);
  expect(server.pid).not.toBe(pid);
  expect(await get(url)).toBe('value');
});

test('stores nothing in fast mode', async () => {
  await using folder = testFolder();
  await using server = await startRedisServer({
    dataDir: folder.path,
    cacheDir: testCacheDir(),
    durability: 'fast',
    path: PATH,
  });
  await set(server.url);
  await server.restart();
  expect(await get(server.url)).toBeNull();
});

test('listens only on its socket and does not let clients move its files', async () => {
  await using folder = testFolder();
  await using server = await startRedisServer({
    dataDir: folder.path,
    cacheDir: testCacheDir(),
    durability: 'fast',
    path: PATH,
  });
  await withRedis(server.url, async (redis) => {
    expect(await redis.config('GET', 'port')).toEqual(['port', '0']);
    await expect(redis.config('SET', 'dir', '/')).rejects.toThrow('protected config');
  });
});

const tree = await findTree({
  recipe: DOCUMENTDB_RECIPE,
  cacheDir: testCacheDir(),
  path: PATH,
  onEvent: () => undefined,
});

test.runIf(tree !== null)("uses the engine's Valkey if PATH has none", async () => {
  await using folder = testFolder();
  const path = pathWithOnly(folder.path, TOOLS);
  await using server = await startRedisServer({
    dataDir: `${folder.path}/data`,
    cacheDir: testCacheDir(),
    durability: 'durable',
    path,
  });
  expect(server.kind).toBe('valkey-server');
  await set(server.url);
  await server.restart();
  expect(await get(server.url)).toBe('value');
});

async function refused(redis: Redis): Promise<string> {
  const error = await new Promise<Error>((resolve) => redis.once('error', resolve));
  redis.disconnect();
  return 'code' in error ? String(error.code) : error.message;
}
