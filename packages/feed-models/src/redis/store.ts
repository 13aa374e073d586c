import { FLOOR_ABOVE_ALL } from '../../../../src/domain/newsfeed-item.ts';
import type { RedisFeedsRepository } from './repository.ts';
import type { FeedStore } from '../../../../src/feeds/feed-store.ts';

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
export function redisFeedStore(feeds: RedisFeedsRepository): FeedStore {
  return {
    model: 'redis',
    async deliver({ actionId, readers }) {
      const changes = await feeds.deliver(actionId, readers);
      const changed = (what: string): string[] =>
        readers.filter((_, index) => changes[index] === what).map(({ userId }) => userId);
      return { added: changed('added'), raised: changed('raised') };
    },
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
