import { expect, test } from 'vitest';
import { partIndex } from '../../../src/connections/redis-parts.ts';
import type { Context } from '../../../src/feed/context.ts';
import { announce } from '../../../src/feed/announce.ts';
import { LiveLogUnavailable, type LiveAppend, type LiveLog } from '../../../src/live/live-log.ts';
import { PartitionedLiveLog } from '../../../src/live/create-realtime.ts';

const PARTS = 4;
const READERS = Array.from({ length: 20 }, (_, n) => `reader-${String(n)}`);
const partOf = (userId: string): number => partIndex(userId, PARTS);

/** Parts that take what they are given, and some that cannot be reached. */
function parts(away: ReadonlySet<number>) {
  const appended: string[] = [];
  const logs = Array.from({ length: PARTS }, (_, index): LiveLog => {
    const reach = <T>(value: T): Promise<T> =>
      away.has(index) ? Promise.reject(new LiveLogUnavailable('A node is away')) : Promise.resolve(value);
    return {
      watched: (userIds: readonly string[]) => reach([...userIds]),
      append: (entries: readonly LiveAppend[]) =>
        reach(entries).then((taken) => {
          appended.push(...taken.map(({ userId }) => userId));
        }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    } as unknown as LiveLog;
  });
  return { log: new PartitionedLiveLog(logs), appended };
}

const announcements = READERS.map((userId) => ({
  userId,
  event: { kind: 'added', actionId: 'a', relevancy: new Date(0), reasons: ['FOLLOW'] } as const,
}));

test('readers of other partitions get their events while one partition is unreachable', async () => {
  const { log, appended } = parts(new Set([1]));
  const errors: unknown[] = [];
  await announce(
    { liveLog: log, onLiveLogError: (error) => errors.push(error) } as Partial<Context> as Context,
    announcements,
  );
  const reached = READERS.filter((reader) => partOf(reader) !== 1);
  expect(reached.length).toBeLessThan(READERS.length);
  expect(appended.sort()).toEqual(reached.sort());
  expect(errors).toEqual([expect.any(LiveLogUnavailable)]);
});

test('it is unknown whether readers have watchers if none of their partitions is reachable', async () => {
  const { log } = parts(new Set([1]));
  const there = READERS.filter((reader) => partOf(reader) === 1);
  await expect(log.watched(there)).rejects.toThrow(LiveLogUnavailable);
});
