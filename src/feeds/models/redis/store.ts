import { FLOOR_ABOVE_ALL } from '../../../domain/newsfeed-item.ts';
import type { RedisFeedsRepository } from './repository.ts';
import type { FeedStore } from '../../feed-store.ts';

/**
 * One sorted set per reader in Redis, with the newest entries of their feed. For sites with many readers and frequent
 * deliveries whose database should not carry them: feeds are in memory and may be lost at any time.
 *
 * A feed is vouched for only after a rebuild: opened by filling it with nothing, filled from the actions, and declared
 * complete. Deliveries to a feed that is missing are kept, but its floor stays above all. A feed is lost when it comes to
 * the end of its lifetime, when Redis evicts it, or was restarted; then its floor is above all again, and pages come
 * from the actions themselves until the next rebuild. While Redis is away, every method rejects with StoreUnavailable, and
 * what reads does so within a second.
 *
 * Cost for a chunk: one command per 250 readers, all sent at once; each reader about ten operations in memory, and as
 * much for a bump. A page is one command, whose cost grows with the logarithm of the feed's length. A removal is one
 * command per 250 readers, a fill one per 250 entries. Storage: in memory, about 250 bytes per entry with the set that
 * tells who holds an action; at most `cap` entries.
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
    holders: (actionId, query) => feeds.someHolders(actionId, query),
    remove: (userIds, actionIds) => feeds.remove(userIds, actionIds),
    trim: (userId, from) => feeds.trim(userId, from),
    drop: (userId) => feeds.drop(userId),
  };
}
