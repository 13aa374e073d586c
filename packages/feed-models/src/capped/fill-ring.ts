import type { ActionId, UserId } from '../../../../src/domain/action.ts';
import type { FeedEntry } from '../../../../src/domain/newsfeed-item.ts';
import type { FillOptions } from '../../../../src/feeds/feed-store.ts';
import { higher } from '../../../../src/feeds/floor.ts';
import type { FeedRingsRepository } from './repository.ts';
import { planRing } from './ring-plan.ts';

/** More concurrent writers of one ring than this indicate a bug. */
const MAX_TRIES = 100;

/** Makes the ring contain the best of its own and the given entries, within the cap. Returns the new ones. */
export async function fillRing(
  rings: FeedRingsRepository,
  cap: number,
  userId: UserId,
  entries: readonly FeedEntry[],
  { isCompleteDownTo }: FillOptions,
): Promise<ActionId[]> {
  const added = new Set<ActionId>();
  let pending = entries;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { numFeed, floor, extent } = await rings.ring(userId);
    const plan = planRing({
      userId,
      cap,
      first: numFeed,
      floor: higher(floor, isCompleteDownTo ?? null),
      stored: await rings.all(userId),
      wanted: pending,
    });
    // Even without numbers to claim, raising the floor may require creating the ring.
    const needsRing = plan.numbers > 0 || plan.floor !== null;
    if (needsRing && !(await rings.takeFrom(userId, numFeed, plan.numbers))) continue;
    if (plan.floor !== null) await rings.raiseFloors([{ userId, floor: plan.floor }]);
    const lost = new Set((await rings.write(plan.writes)).map(({ entry }) => entry.actionId));
    const raised = await rings.raiseForReader(userId, plan.behind);
    await rings.free(userId, plan.beyond);
    if (extent > cap && plan.isWithinCap) await rings.shrink(userId, extent);
    for (const { actionId } of plan.missing) if (!lost.has(actionId)) added.add(actionId);
    pending = [
      ...pending.filter(({ actionId }) => lost.has(actionId)),
      ...(raised === plan.behind.length ? [] : plan.behind),
    ];
    if (pending.length === 0) return [...added];
  }
  throw new Error('Filling a feed met other writers again and again');
}
