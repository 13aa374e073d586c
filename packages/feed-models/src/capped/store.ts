import type { ActionId } from '../../../../src/domain/action.ts';
import type { FeedStore, ReaderDelivery } from '../../../../src/feeds/feed-store.ts';
import { isAbove } from '../../../../src/feeds/floor.ts';
import { byBoost } from '../../../../src/feeds/models/shared/by-boost.ts';
import { deliverInRounds } from '../../../../src/feeds/models/shared/put-in-rounds.ts';
import { fillRing } from './fill-ring.ts';
import { putIntoRings } from './put-into-rings.ts';
import type { FeedRingsRepository } from './repository.ts';

/**
 * A ring of `cap` slots per reader, one document each. The n-th entry goes to slot `n mod cap`, so the write that adds the
 * newest entry evicts the oldest, and a feed never exceeds its slots. For sites that keep the last so many items of
 * everybody: storage is known in advance, and no clean-up job is needed.
 *
 * A bumped entry is raised in place. When its slot is due, it is skipped while it belongs to the newest half of the cap, and
 * the next slot is used. Before an entry is evicted, the floor is raised to it.
 *
 * The cap may change at any start. A ring that grows is full after at most one more turn. A ring that shrinks no longer uses
 * slots beyond the cap, and frees those of entries outside the newest `cap`, twice per turn and with every fill.
 *
 * Cost of a chunk: five round trips for full rings, three otherwise, plus one unless it is the first attempt; per reader one
 * write of the counter and one of the entry. A bump is one `updateMany` per distinct relevancy and set of reasons. Twice per
 * turn of a ring, one query determines its newest half. A page is two queries. A fill reads the whole ring.
 */
export function cappedFeedStore(rings: FeedRingsRepository, cap: number): FeedStore {
  const size = { cap, half: Math.ceil(cap / 2) };

  return {
    model: 'capped',
    deliver(chunk) {
      let tries = 0;
      return deliverInRounds(chunk, {
        holders: (userIds) => rings.holders(chunk.actionId, userIds),
        insert: (readers) => {
          tries += 1;
          // More numbers each time, since many consecutive slots may have to be skipped.
          const count = Math.min(cap, 2 ** (tries - 1));
          const isLookedUp = tries > 1 || !chunk.isFirstAttempt;
          return putIntoRings(rings, size, { actionId: chunk.actionId, readers }, { count, isLookedUp });
        },
        raise: (readers) =>
          raise(
            chunk.actionId,
            readers.map(({ wanted }) => wanted),
          ),
      });
    },
    async fill(userId, entries, options) {
      if (entries.length === 0 && options?.isCompleteDownTo == null) return [];
      return fillRing(rings, cap, userId, entries, options ?? {});
    },
    async page(query) {
      // The order matters: an entry evicted in between is at or below the floor read afterwards.
      const entries = await rings.page(query);
      const { floor } = await rings.ring(query.userId);
      return { entries: entries.filter((entry) => isAbove(entry, floor)), floor };
    },
    // As in a page, a late writer may have left an older copy of an entry below the floor.
    async find(userId, actionIds) {
      const entries = await rings.find(userId, actionIds);
      if (entries.length === 0) return entries;
      const { floor } = await rings.ring(userId);
      return entries.filter((entry) => isAbove(entry, floor));
    },
    held: (actionId, userIds) => rings.holders(actionId, userIds),
    holders: (actionId, query) => rings.someHolders(actionId, query),
    async remove(userIds, actionIds) {
      await rings.remove(userIds, actionIds);
      await rings.forgetPivots(userIds);
    },
    async trim(userId, from) {
      await rings.trim(userId, from);
      await rings.forgetPivots([userId]);
    },
    async drop(userId) {
      await rings.drop(userId);
      await rings.dropRing(userId);
    },
  };

  /** Returns the readers who no longer have it. */
  async function raise(
    actionId: ActionId,
    readers: readonly ReaderDelivery[],
  ): Promise<readonly ReaderDelivery[]> {
    const missed: ReaderDelivery[] = [];
    for (const { boost, readers: group } of byBoost(readers)) {
      const userIds = group.map(({ userId }) => userId);
      if ((await rings.raise(actionId, userIds, boost)) === group.length) continue;
      const stored = new Set((await rings.holders(actionId, userIds)).map(({ userId }) => userId));
      missed.push(...group.filter(({ userId }) => !stored.has(userId)));
    }
    return missed;
  }
}
