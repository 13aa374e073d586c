import { expect, inject, test } from 'vitest';
import { connectRedis } from '../../../src/connections/redis.ts';
import { createPublicationQuota } from '../../../src/http/limits/publication-quota.ts';
import { uniqueName } from '../../support/unique-name.ts';

const SHARE = { points: 3, seconds: 3_600 };

test('processes count together, what is refused uses nothing up, and an ended window takes nothing back', async () => {
  await using redis = await connectRedis({ url: inject('redisUrl') });
  const prefix = `${uniqueName('quota')}:`;
  const [one, two] = [
    createPublicationQuota(SHARE, [{ ...redis, prefix }]),
    createPublicationQuota(SHARE, [{ ...redis, prefix }]),
  ];
  expect(await one.take('acme', 2)).toMatchObject({ granted: 2 });
  const taken = await two.take('acme', 3);
  expect(taken).toMatchObject({ granted: 1 });
  expect(taken.msLeft).toBeGreaterThan(0);
  await taken.giveBack(1);
  const last = await one.take('acme', 3);
  expect(last).toMatchObject({ granted: 1 });
  expect(await two.take('acme', 1)).toMatchObject({ granted: 0 });
  expect(await two.take('other', 4)).toMatchObject({ granted: 3 });

  // The end of the window.
  expect(await redis.commands.del(`${prefix}publications:acme`)).toBe(1);
  await last.giveBack(1);
  expect(await two.take('acme', 1)).toMatchObject({ granted: 1 });
  await last.giveBack(1);
  expect(await one.take('acme', 5)).toMatchObject({ granted: 2 });
  await redis.commands.del(`${prefix}publications:acme`, `${prefix}publications:other`);
});
