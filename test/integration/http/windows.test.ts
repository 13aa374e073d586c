import { expect, inject, test } from 'vitest';
import { connectRedis } from '../../../src/connections/redis.ts';
import { Windows, type Taken, type Wanted } from '../../../src/connections/windows.ts';
import { fc } from '../../support/fast-check.ts';
import { repeats } from '../../support/seed.ts';
import { uniqueName } from '../../support/unique-name.ts';

const SHARE = { points: 3, seconds: 3_600 };

const some = (points: number, key = 'acme'): Wanted => ({ key, holder: null, points, isPartial: true });
const whole = (points: number, holder: string | null = null): Wanted => ({
  ...{ key: 'acme', holder, points, isPartial: false },
});

test('processes count together, rejected requests use nothing, and nothing is returned to an ended window', async () => {
  await using redis = await connectRedis({ url: inject('redisUrl') });
  const prefix = `${uniqueName('windows')}:`;
  const [one, two] = [
    new Windows('w', SHARE, [{ ...redis, prefix }]),
    new Windows('w', SHARE, [{ ...redis, prefix }]),
  ];
  expect(await one.take(some(2))).toMatchObject({ granted: 2 });
  const taken = await two.take(some(3));
  expect(taken).toMatchObject({ granted: 1 });
  expect(taken.msLeft).toBeGreaterThan(0);
  await taken.giveBack(1);
  const last = await one.take(some(3));
  expect(last).toMatchObject({ granted: 1 });
  expect(await two.take(some(1))).toMatchObject({ granted: 0 });
  expect(await two.take(some(4, 'other'))).toMatchObject({ granted: 3 });

  // The end of the window.
  expect(await redis.commands.del(`${prefix}w:acme`)).toBe(1);
  await last.giveBack(1);
  expect(await two.take(some(1))).toMatchObject({ granted: 1 });
  await last.giveBack(1);
  expect(await one.take(some(5))).toMatchObject({ granted: 2 });
  await redis.commands.del(`${prefix}w:acme`, `${prefix}w:other`);
});

test('a window has its length, even if the clock of Redis was set back', async () => {
  await using redis = await connectRedis({ url: inject('redisUrl') });
  const prefix = `${uniqueName('windows')}:`;
  const windows = new Windows('w', { points: 2, seconds: 60 }, [{ ...redis, prefix }]);
  await windows.take(whole(2));
  // What ends in a minute ends in eleven by a clock that has gone back by ten.
  await redis.commands.pexpire(`${prefix}w:acme`, 660_000);
  const { granted, msLeft } = await windows.take(whole(1));
  expect(granted).toBe(0);
  expect(msLeft).toBeLessThanOrEqual(60_000);
  expect(await redis.commands.pttl(`${prefix}w:acme`)).toBeLessThanOrEqual(60_000);
  await redis.commands.del(`${prefix}w:acme`);
});

test('Redis and a process alone grant the same, and never more than the limit', async () => {
  await using redis = await connectRedis({ url: inject('redisUrl') });
  const step = fc.record({
    holder: fc.constantFrom('ann', 'bob', 'cid', null),
    points: fc.integer({ min: 1, max: 12 }),
    isPartial: fc.boolean(),
    returned: fc.integer({ min: 0, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 20 }),
      fc.integer({ min: 1, max: 20 }),
      async (steps, points) => {
        const prefix = `${uniqueName('windows')}:`;
        const share = { points, seconds: 3_600 };
        const [here, together] = [new Windows('w', share), new Windows('w', share, [{ ...redis, prefix }])];
        let used = 0;
        for (const { returned, ...wanted } of steps) {
          const both = [
            await here.take({ key: 'acme', ...wanted }),
            await together.take({ key: 'acme', ...wanted }),
          ];
          const [own, shared] = both.map(({ granted, left, leftForAll }: Taken) => ({
            granted,
            left,
            leftForAll,
          }));
          expect(shared).toEqual(own);
          const back = wanted.isPartial ? Math.min(returned, own?.granted ?? 0) : 0;
          for (const taken of both) await taken.giveBack(back);
          used += (own?.granted ?? 0) - back;
          expect(used).toBeLessThanOrEqual(points);
        }
        await redis.commands.del(`${prefix}w:acme`);
      },
    ),
    { numRuns: repeats(40) },
  );
});
