import type { Context } from './context.ts';
import type { UserId } from '../domain/action.ts';
import { clock } from '../lib/clock.ts';

/**
 * How long a reader may go on by what they knew of the floor. What is stored below it is forgotten after that only:
 * nobody who pages by an older floor meets a hole. Longer than any request may take.
 */
export const TRIM_GRACE_MS = 60_000;
const AT_ONCE = 50;
/** How long a process that dies blocks rebuilds of the feed it was trimming. */
const LEASE_MS = 30_000;
/** How far a feed may grow beyond the cap before it is cut, as a share of the cap. */
const SLACK = 0.1;

/**
 * Of the readers something new was just stored for, looks at about one in `cap` and raises the floor of a feed that has
 * grown too long. So each feed is looked at once while it grows by its cap, on average, and no write has to count.
 */
export async function raiseFloors(
  { feedStore, feeds, cap }: Context,
  userIds: readonly UserId[],
  random: () => number,
): Promise<void> {
  for (const userId of userIds) {
    if (random() * cap >= 1) continue;
    const limit = cap + Math.ceil(cap * SLACK) + 1;
    const { entries, floor } = await feedStore.page({ userId, limit });
    const first = entries[cap];
    // A model that evicts on its own says so by a floor of its own.
    if (floor !== null || entries.length < limit || first === undefined) continue;
    await feeds.raiseFloor(userId, first, new Date(clock.time() + TRIM_GRACE_MS));
  }
}

/** Deletes what lies below floors that have been known for long enough. Returns the number of feeds. */
export async function trimDue({ feedStore, feeds }: Context, now: Date): Promise<number> {
  let trimmed = 0;
  for (const due of await feeds.dueTrims(now, AT_ONCE)) {
    const begunAt = clock.now();
    const until = new Date(begunAt.getTime() + LEASE_MS);
    if (!(await feeds.beginTrim(due, { now: begunAt, until }))) continue;
    await feedStore.trim(due.userId, due.floor);
    await feeds.finishTrim(due, until);
    trimmed += 1;
  }
  return trimmed;
}
