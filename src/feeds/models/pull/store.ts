import { FLOOR_ABOVE_ALL } from '../../../domain/newsfeed-item.ts';
import type { FeedStore } from '../../feed-store.ts';

/**
 * Nothing is stored: a feed is made from the actions whenever it is read. For sites with few readers or few reads, and to
 * compare the others with. A delivery announces it to everybody, for the watchers among them.
 *
 * Cost: nothing for a delivery, a bump, a removal or storage; a page costs what reading from the source costs.
 */
export function pullFeedStore(): FeedStore {
  return {
    model: 'pull',
    deliver: ({ readers }) => Promise.resolve({ added: readers.map(({ userId }) => userId), raised: [] }),
    fill: (_userId, entries) => Promise.resolve(entries.map(({ actionId }) => actionId)),
    page: () => Promise.resolve({ entries: [], floor: FLOOR_ABOVE_ALL }),
    find: () => Promise.resolve([]),
    holders: () => Promise.resolve([]),
    remove: () => Promise.resolve(),
    trim: () => Promise.resolve(),
    drop: () => Promise.resolve(),
  };
}
