import { Redis } from 'ioredis';
import { expect, inject, test } from 'vitest';
import { testDatabase, testRedisPrefix } from '../../../../test/support/engine.ts';

test('the run has an engine, and each test its own database, which is dropped with it', async () => {
  let name: string;
  {
    await using first = await testDatabase();
    await using second = await testDatabase();
    name = first.name;
    expect(second.name).not.toBe(first.name);
    await first.db.collection('things').insertOne({ a: 1 });
    expect(await first.db.collection('things').countDocuments({ a: 1 })).toBe(1);
    expect(await second.db.collection('things').countDocuments()).toBe(0);
  }
  await using later = await testDatabase();
  expect(await later.client.db(name).listCollections().toArray()).toEqual([]);
});

test('the run has a Redis, and each test its own prefix', async () => {
  const redis = new Redis(inject('redisUrl'));
  try {
    const key = `${testRedisPrefix()}key`;
    await redis.set(key, 'value', 'EX', 60);
    expect(await redis.get(key)).toBe('value');
    expect(await redis.get(`${testRedisPrefix()}key`)).toBeNull();
  } finally {
    await redis.quit();
  }
});
