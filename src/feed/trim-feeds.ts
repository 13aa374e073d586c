import type { Context } from './context.ts';
import type { UserId } from '../domain/action.ts';
import { clock } from '../lib/clock.ts';

/**
 * Entries below a raised floor are deleted only after this time, so that requests that still use the older floor find no gap.
 * Longer than any request may take.
 */
export const TRIM_GRACE_MS = 60_000;
const AT_ONCE = 50;
/** If a process dies while trimming a feed, that feed is not rebuilt for this long. */
const LEASE_MS = 30_000;
/** A feed is trimmed when it exceeds the cap by this share of it. */
const SLACK = 0.1;

/**
 * Checks about one in `cap` of the readers who just received an entry, and raises the floor of a feed that is too long. On
 * average, each feed is checked once per `cap` new entries, so that no write has to count.
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
    // A model that evicts entries itself reports a floor.
    if (floor !== null || entries.length < limit || first === undefined) continue;
    await feeds.raiseFloor(userId, first, new Date(clock.time() + TRIM_GRACE_MS));
  }
}

/** Deletes entries below floors that were raised at least `TRIM_GRACE_MS` ago. Returns the number of feeds. */
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
