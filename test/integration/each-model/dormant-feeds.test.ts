import { describe, expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import { MemoryLiveLog } from '../../support/memory-live-log.ts';
import { dropDormant } from '../../../src/features/upkeep/jobs/upkeep.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { someModels } from '../../support/some-models.ts';

const DAY_MS = 86_400_000;
const AGES = { dropAfterMs: 30 * DAY_MS, neverReadAfterMs: 30 * DAY_MS };

function drop({ core }: Parts, now = new Date()): Promise<number> {
  return dropDormant(
    core,
    AGES,
    () => now,
    () => false,
  );
}

const inDays = (days: number): Date => new Date(Date.now() + days * DAY_MS);

async function publish(parts: Parts, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1)
    ids.unshift((await parts.publish({ scope: 'PUBLIC', mentions: ['ann', 'bob', 'eve'] })).action.id);
  await parts.fanOut();
  return ids;
}

async function stored({ feedStore }: Parts, userId: string): Promise<number> {
  return (await feedStore.page({ userId, limit: 100 })).entries.length;
}

const count = ({ services, session }: Parts, userId: string) => services.countUnread(session(userId));

/** Nobody has read since a day long ago, but for these. */
async function allAsleepBut(parts: Parts, awake: string): Promise<void> {
  await parts.database.collections.feeds.updateMany(
    { _id: { $ne: awake }, activeAt: { $exists: true } },
    { $set: { activeAt: inDays(-60) } },
  );
}

describe.each(someModels(2))('with the feed model %s', (model) => {
  test('readers who have not read for long lose their stored feed, and nothing else', async () => {
    await using parts = await openParts({ model });
    const old = await publish(parts, 3);
    for (const userId of ['ann', 'bob']) await parts.feedOf(userId);
    await parts.fanOut();
    await parts.services.markFeedRead(parts.session('ann'), clock.now());
    await allAsleepBut(parts, 'bob');
    const before = await stored(parts, 'bob');
    expect(await drop(parts)).toBe(1);
    expect(await drop(parts)).toBe(0);
    expect([await stored(parts, 'ann'), await stored(parts, 'bob')]).toEqual([0, before]);

    const young = await publish(parts, 2);
    expect(await stored(parts, 'ann')).toBe(0);
    // Back again: all of it at once, and stored in the background.
    expect(await parts.feedOf('ann')).toEqual([...young, ...old]);
    expect(await count(parts, 'ann')).toEqual({ count: 2, isExact: true });
    await parts.fanOut();
    expect(await parts.feedOf('ann')).toEqual([...young, ...old]);
    expect(await count(parts, 'ann')).toEqual({ count: 2, isExact: true });
    expect(await stored(parts, 'ann')).toBe(model === 'pull' ? 0 : 5);
    // And once more, after another pause.
    await allAsleepBut(parts, 'bob');
    expect(await drop(parts)).toBe(1);
    expect(await stored(parts, 'ann')).toBe(0);
  });

  test('nothing is stored for readers who never read, until they do', async () => {
    await using parts = await openParts({ model, neverReadAfterMs: AGES.neverReadAfterMs });
    const first = await publish(parts, 2);
    expect(await drop(parts)).toBe(0);
    expect(await drop(parts, inDays(31))).toBe(3);
    expect(await stored(parts, 'eve')).toBe(0);
    const { feeds } = parts.database.collections;
    await feeds.updateMany({}, { $set: { awaitedSince: inDays(-40) } });
    const second = await publish(parts, 2);
    expect(await stored(parts, 'eve')).toBe(0);
    expect(await count(parts, 'eve')).toEqual({ count: 4, isExact: true });
    expect(await parts.feedOf('eve')).toEqual([...second, ...first]);
    await parts.fanOut();
    expect(await parts.feedOf('eve')).toEqual([...second, ...first]);
    expect(await stored(parts, 'eve')).toBe(model === 'pull' ? 0 : 4);
    expect(await stored(parts, 'bob')).toBe(0);
  });
});

test('a reader who comes back while the feed is dropped has all of it', async () => {
  await using parts = await openParts();
  const ids = await publish(parts, 3);
  await parts.feedOf('ann');
  await parts.fanOut();
  await allAsleepBut(parts, 'nobody');
  const { feedStore, repositories } = parts;
  const comesBack = {
    ...feedStore,
    async drop(userId: string) {
      // Between the mark and the drop; the rebuild that this asks for has to wait.
      expect(await parts.feedOf('ann')).toEqual(ids);
      expect(await repositories.feedRebuilds.claimDue(new Date(), 30_000)).toEqual([]);
      await feedStore.drop(userId);
    },
  };
  await dropDormant(
    { ...parts.core, feedStore: comesBack },
    AGES,
    () => new Date(),
    () => false,
  );
  await parts.fanOut();
  expect(await parts.feedOf('ann')).toEqual(ids);
  expect(await stored(parts, 'ann')).toBe(3);
});

test('a reader who comes back while the feed is dropped has all of it, however long others took before', async () => {
  await using parts = await openParts();
  const readers = Array.from({ length: 21 }, (_, n) => `r${String(n).padStart(2, '0')}`);
  const { action } = await parts.publish({ scope: 'PUBLIC', mentions: readers });
  await parts.fanOut();
  for (const userId of readers) await parts.feedOf(userId);
  await parts.fanOut();
  await allAsleepBut(parts, 'nobody');
  const { feedStore, repositories } = parts;
  let passed = 0;
  const now = (): Date => new Date(Date.now() + passed);
  const slow = {
    ...feedStore,
    async drop(userId: string) {
      // The last one of the first batch.
      if (userId === 'r19') passed += 60_000;
      if (userId === 'r20') {
        expect(await parts.feedOf('r20')).toEqual([action.id]);
        expect(await repositories.feedRebuilds.claimDue(now(), 30_000)).toEqual([]);
      }
      await feedStore.drop(userId);
    },
  };
  expect(await dropDormant({ ...parts.core, feedStore: slow }, AGES, now, () => false)).toBe(21);
  await parts.fanOut();
  expect(await parts.feedOf('r20')).toEqual([action.id]);
  expect(await stored(parts, 'r20')).toBe(1);
});

test('a feed is not dropped once it may be rebuilt', async () => {
  await using parts = await openParts();
  await publish(parts, 2);
  for (const userId of ['ann', 'bob']) await parts.feedOf(userId);
  await parts.fanOut();
  await allAsleepBut(parts, 'nobody');
  const { feedStore } = parts;
  let passed = 0;
  const held = {
    ...feedStore,
    async drop(userId: string) {
      await feedStore.drop(userId);
      passed = 31_000;
    },
  };
  const now = (): Date => new Date(Date.now() + passed);
  expect(await dropDormant({ ...parts.core, feedStore: held }, AGES, now, () => false)).toBe(1);
  expect([await stored(parts, 'ann'), await stored(parts, 'bob')]).toEqual([0, 2]);
  // It is found again.
  expect(await drop(parts, now())).toBe(1);
  expect(await stored(parts, 'bob')).toBe(0);
});

test('a feed that cannot be dropped does not hold up the others', async () => {
  await using parts = await openParts();
  await publish(parts, 2);
  for (const userId of ['ann', 'bob', 'eve']) await parts.feedOf(userId);
  await parts.fanOut();
  await allAsleepBut(parts, 'nobody');
  const { feedStore } = parts;
  const broken = {
    ...feedStore,
    drop: (userId: string) =>
      userId === 'ann' ? Promise.reject(new Error('ann is broken')) : feedStore.drop(userId),
  };
  const dropping = dropDormant(
    { ...parts.core, feedStore: broken },
    AGES,
    () => new Date(),
    () => false,
  );
  await expect(dropping).rejects.toThrow('ann is broken');
  expect([await stored(parts, 'ann'), await stored(parts, 'bob'), await stored(parts, 'eve')]).toEqual([
    2, 0, 0,
  ]);
});

test('an interrupted drop is repeated', async () => {
  await using parts = await openParts();
  const ids = await publish(parts, 2);
  await parts.feedOf('ann');
  await parts.fanOut();
  await allAsleepBut(parts, 'nobody');
  const { feedStore } = parts;
  const dead = { ...feedStore, drop: () => Promise.reject(new Error('dead')) };
  await expect(
    dropDormant(
      { ...parts.core, feedStore: dead },
      AGES,
      () => new Date(),
      () => false,
    ),
  ).rejects.toThrow('dead');
  // Not before the lease of the other is over.
  expect(await drop(parts)).toBe(0);
  expect(await drop(parts, new Date(Date.now() + 60_000))).toBe(1);
  expect(await parts.feedOf('ann')).toEqual(ids);
  await parts.fanOut();
  expect(await stored(parts, 'ann')).toBe(2);
});

test('a watching reader is not dormant', async () => {
  await using parts = await openParts();
  await publish(parts, 1);
  await parts.feedOf('ann');
  await parts.fanOut();
  await allAsleepBut(parts, 'nobody');
  const liveLog = Object.assign(new MemoryLiveLog(), {
    watched: (userIds: readonly string[]) => Promise.resolve([...userIds]),
  });
  expect(
    await dropDormant(
      { ...parts.core, liveLog },
      AGES,
      () => new Date(),
      () => false,
    ),
  ).toBe(0);
  expect(await stored(parts, 'ann')).toBe(1);
});
