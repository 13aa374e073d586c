import { byPart, partIndex } from '../../../../src/connections/redis-parts.ts';
import type { UserId } from '../../../../src/domain/action.ts';
import { compareUtf8 } from '../../../../src/lib/compare-utf8.ts';
import type { FeedStore } from '../../../../src/feeds/feed-store.ts';

/** Feeds on a cluster: each reader's feed, and the reader's place among the holders of actions, is in one part. */
export function partitionedFeedStore(stores: readonly [FeedStore, ...FeedStore[]]): FeedStore {
  const count = stores.length;
  const [first] = stores;
  const of = (userId: UserId): FeedStore => stores[partIndex(userId, count)] ?? first;
  const inParts = <T, R>(
    items: readonly T[],
    userOf: (item: T) => UserId,
    work: (store: FeedStore, some: readonly T[]) => Promise<R>,
  ): Promise<R[]> =>
    Promise.all([...byPart(items, userOf, count)].map(([index, some]) => work(stores[index] ?? first, some)));

  return {
    model: first.model,
    async deliver(chunk) {
      const outcomes = await inParts(
        chunk.readers,
        ({ userId }) => userId,
        (store, readers) => store.deliver({ ...chunk, readers }),
      );
      return {
        added: outcomes.flatMap(({ added }) => added),
        raised: outcomes.flatMap(({ raised }) => raised),
      };
    },
    fill: (userId, entries, options) => of(userId).fill(userId, entries, options),
    page: (query) => of(query.userId).page(query),
    find: (userId, actionIds) => of(userId).find(userId, actionIds),
    async held(actionId, userIds) {
      const found = await inParts(
        userIds,
        (userId) => userId,
        (store, some) => store.held(actionId, some),
      );
      return found.flat();
    },
    async holders(actionId, query) {
      const found = await Promise.all(stores.map((store) => store.holders(actionId, query)));
      return found.flat().sort(compareUtf8).slice(0, query.limit);
    },
    async remove(userIds, actionIds) {
      await inParts(
        userIds,
        (userId) => userId,
        (store, some) => store.remove(some, actionIds),
      );
    },
    trim: (userId, from) => of(userId).trim(userId, from),
    drop: (userId) => of(userId).drop(userId),
  };
}
