import type { ActionId } from '../../../domain/action.ts';
import type { FeedStore, ReaderDelivery } from '../../feed-store.ts';
import { isAbove } from '../../floor.ts';
import { byBoost } from '../shared/by-boost.ts';
import { deliverInRounds } from '../shared/put-in-rounds.ts';
import { fillRing } from './fill-ring.ts';
import { putIntoRings } from './put-into-rings.ts';
import type { FeedRingsRepository } from './repository.ts';

/**
 * A ring of `cap` places per reader, one document each: the n-th entry has the place `n mod cap`, so the oldest gives way
 * to the newest by the write that puts it there, and a feed never takes more than its places. For sites that keep the last
 * so many items of everybody: storage is known beforehand, and no job has to clear anything away.
 *
 * An entry that is bumped is raised where it is. When its place is due, it is passed over as long as it belongs to the
 * newest half of the cap; the next place is taken. Whatever gives way, the floor is raised to it before.
 *
 * The cap may be another one at any start. A ring that grows is full after one more turn at the latest. One that shrinks
 * takes places beyond the cap no more, and frees them twice per turn, and with every fill, of what is not among the newest
 * `cap` entries any more.
 *
 * Cost for a chunk: five round trips where a ring is full, three where it is not, one more where it is not the first
 * attempt; for each reader a write of the counter and one of the entry. A bump is one `updateMany` per distinct relevancy
 * and set of reasons. Twice per turn of a ring, one query finds out what its newest half is. A page is two queries. A
 * fill reads the whole ring.
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
          // More numbers each time: what is passed over now may be many in a row.
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
      // In this order: what gives way in between is at the floor or below by then.
      const entries = await rings.page(query);
      const { floor } = await rings.ring(query.userId);
      return { entries: entries.filter((entry) => isAbove(entry, floor)), floor };
    },
    // As in a page: a late writer can leave an older place of an entry below the floor.
    async find(userId, actionIds) {
      const entries = await rings.find(userId, actionIds);
      if (entries.length === 0) return entries;
      const { floor } = await rings.ring(userId);
      return entries.filter((entry) => isAbove(entry, floor));
    },
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

  /** Returns the readers who do not have it any more. */
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
