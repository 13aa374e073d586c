import { eachChunk, type FeedModel, type FeedStore } from '../feed-store.ts';
import { FLOOR_ABOVE_ALL } from '../../domain/newsfeed-item.ts';

export const pullModel: FeedModel = { name: 'pull', collections: [], open: () => pullFeedStore() };

/**
 * Stores nothing: a feed is computed from the actions at every read. For sites with few readers or few reads, and as a
 * reference for the other models. A delivery is announced to everybody, since it is unknown who already had it.
 *
 * Cost: deliveries, bumps, removals and storage are free; a page costs as much as reading from the source.
 */
function pullFeedStore(): FeedStore {
  return {
    model: 'pull',
    deliver: eachChunk(({ readers }) =>
      Promise.resolve({ added: readers.map(({ userId }) => userId), raised: [] }),
    ),
    fill: (_userId, entries) => Promise.resolve(entries.map(({ actionId }) => actionId)),
    page: () => Promise.resolve({ entries: [], floor: FLOOR_ABOVE_ALL }),
    find: () => Promise.resolve([]),
    held: () => Promise.resolve([]),
    holders: () => Promise.resolve([]),
    remove: () => Promise.resolve(),
    trim: () => Promise.resolve(),
    drop: () => Promise.resolve(),
  };
}
