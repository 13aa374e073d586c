import type { FeedModel } from '../../../../src/feeds/feed-model.ts';
import { partitionedFeedStore } from './partitioned-store.ts';
import { redisFeedsRepository } from './repository.ts';
import { redisFeedStore } from './store.ts';

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
