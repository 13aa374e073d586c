import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startEmbeddedServices } from '../../src/services.ts';
import { forgetDeletedKeys } from '../../../../src/connections/redis.ts';
import { forgetDeleted } from '../../../../src/features/erasure/store/forget-deleted.ts';
import { testCacheDir } from '../../../../test/support/engine.ts';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';
import { PATH, connectMongo, testFolder } from '../integration/support.ts';

const TEXT = 'zebulon-quux-4711';

/** The files below the folder that contain the text. */
function filesWith(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(TEXT))
    .map((file) => file.slice(folder.length));
}

test('deleted or replaced data is in no file of the databases after they were told to forget it', async () => {
  await using folder = testFolder();
  const options = {
    dataDir: folder.path,
    cacheDir: testCacheDir(),
    durability: 'durable' as const,
    path: PATH,
  };
  await using services = await startEmbeddedServices({ ...options, onEvent: () => undefined });
  await using mongo = await connectMongo(services.mongodbUri);
  const db = mongo.client.db('forgotten');
  const things = db.collection<{ _id: string; name: string }>('things');
  await things.createIndex({ name: 1 }, {}, {});
  await things.insertMany([
    { _id: TEXT, name: 'id' },
    { _id: 'replaced', name: TEXT },
    { _id: 'stays', name: 'other' },
  ]);
  await db.command({ planCacheClear: 'things' });
  const redis = new Redis(services.redisUrl);
  await redis.set(TEXT, TEXT);
  await db.admin().command({ fsync: 1 });
  const places = (): string => [...filesWith(folder.path)].sort().join('\n');
  await expect.poll(places, { timeout: PATIENCE_MS }).toMatch(/data\/base\/[^]*appendonlydir/);
  await things.deleteOne({ _id: TEXT });
  await things.updateOne({ _id: 'replaced' }, { $set: { name: 'new' } });
  await redis.del(TEXT);
  await forgetDeleted(db);
  await forgetDeletedKeys(redis);
  await expect.poll(places, { timeout: PATIENCE_MS }).toBe('');
  expect(await things.find().sort({ name: 1 }).toArray()).toEqual([
    { _id: 'replaced', name: 'new' },
    { _id: 'stays', name: 'other' },
  ]);
  await redis.quit();
});
