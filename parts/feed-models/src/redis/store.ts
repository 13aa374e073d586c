import { eachChunk, type FeedModel, type FeedStore } from '../../../../src/feed/feed-store.ts';
import { redisFeedsRepository, type RedisFeedsRepository } from './repository.ts';
import { FLOOR_ABOVE_ALL } from '../../../../src/domain/newsfeed-item.ts';
import { byPart, partIndex } from '../../../../src/connections/redis-parts.ts';
import type { UserId } from '../../../../src/domain/action.ts';
import { compareUtf8 } from '../../../../src/lib/byte-text.ts';

/** Lifetime of a feed: feeds that nobody reads expire, others are rebuilt. */
const LIFETIME_MS = 7 * 24 * 60 * 60 * 1_000;

export const redisModel: FeedModel = {
  name: 'redis',
  collections: [],
  open: ({ redis, cap }) => {
    const [first, ...others] = redis.map((part) =>
      redisFeedStore(redisFeedsRepository(part, { cap, lifetimeMs: LIFETIME_MS })),
    );
    if (first === undefined) throw new Error('The feed model "redis" requires Redis: set REDIS_URL');
    return others.length === 0 ? first : partitionedFeedStore([first, ...others]);
  },
};

/**
 * One sorted set per reader in Redis with the newest entries of their feed. For sites with many readers and frequent
 * deliveries that should not burden the database: feeds are in memory and may be lost at any time.
 *
 * A feed counts as complete only after a rebuild: opened by filling it with nothing, filled from the actions, and declared
 * complete. Deliveries to a missing feed are stored, but its floor stays above all. A feed is lost when its lifetime ends,
 * when Redis evicts it, or when Redis was restarted; its floor is then above all again, and pages are read from the actions
 * until the next rebuild. While Redis is away, every method rejects with StoreUnavailable, reads within a second.
 *
 * Cost of a chunk: one command per 250 readers, sent concurrently; per reader about ten in-memory operations, the same for a
 * bump. A page is one command, whose cost grows with the logarithm of the feed's length. A removal takes one command per 250
 * readers, a fill one per 250 entries. Storage: about 250 bytes of memory per entry including the set of holders; at most
 * `cap` entries.
 */
function redisFeedStore(feeds: RedisFeedsRepository): FeedStore {
  return {
    model: 'redis',
    deliver: eachChunk(async ({ actionId, readers }) => {
      const changes = await feeds.deliver(actionId, readers);
      const changed = (what: string): string[] =>
        readers.filter((_, index) => changes[index] === what).map(({ userId }) => userId);
      return { added: changed('added'), raised: changed('raised') };
    }),
    async fill(userId, entries, { isCompleteDownTo } = {}) {
      if (entries.length === 0 && isCompleteDownTo === undefined) await feeds.open(userId);
      const changes = entries.length === 0 ? [] : await feeds.fill(userId, entries);
      if (isCompleteDownTo !== undefined) await feeds.vouch(userId, isCompleteDownTo);
      return entries.filter((_, index) => changes[index] === 'added').map(({ actionId }) => actionId);
    },
    async page(query) {
      const { entries, floor, isVouchedFor } = await feeds.page(query);
      return isVouchedFor ? { entries, floor } : { entries, floor: FLOOR_ABOVE_ALL, isLost: true };
    },
    find: (userId, actionIds) => feeds.find(userId, actionIds),
    async held(actionId, userIds) {
      const found = await Promise.all(userIds.map((userId) => feeds.find(userId, [actionId])));
      return userIds.flatMap((userId, index) => (found[index] ?? []).map((entry) => ({ ...entry, userId })));
    },
    holders: (actionId, query) => feeds.someHolders(actionId, query),
    remove: (userIds, actionIds) => feeds.remove(userIds, actionIds),
    trim: (userId, from) => feeds.trim(userId, from),
    drop: (userId) => feeds.drop(userId),
  };
}

/** Feeds on a cluster: each reader's feed, and the reader's place among the holders of actions, is in one part. */
function partitionedFeedStore(stores: readonly [FeedStore, ...FeedStore[]]): FeedStore {
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
    deliver: eachChunk(async (chunk) => {
      const outcomes = await inParts(
        chunk.readers,
        ({ userId }) => userId,
        (store, readers) => store.deliver([{ ...chunk, readers }]),
      );
      return {
        added: outcomes.flat().flatMap(({ added }) => added),
        raised: outcomes.flat().flatMap(({ raised }) => raised),
      };
    }),
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
