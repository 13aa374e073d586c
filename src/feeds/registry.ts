import { feedBucketsRepository } from './models/buckets/repository.ts';
import { feedRingsRepository } from './models/capped/repository.ts';
import { feedTopsRepository } from './models/top-cache/repository.ts';
import type { Collections } from '../storage/mongo.ts';
import { newsfeedItemsRepository } from './models/items/repository.ts';
import { redisFeedsRepository } from './models/redis/repository.ts';
import type { RedisClient } from '../connections/redis.ts';
import type { FeedStore } from './feed-store.ts';
import { cappedFeedStore } from './models/capped/store.ts';
import { itemsFeedStore } from './models/items/store.ts';
import { pullFeedStore } from './models/pull/store.ts';
import { redisFeedStore } from './models/redis/store.ts';
import { sizeBucketsFeedStore } from './models/buckets/size-buckets.ts';
import { timeBucketsFeedStore } from './models/buckets/time-buckets.ts';
import { TOP_CACHE_MAX, topCacheFeedStore } from './models/top-cache/store.ts';

export interface FeedModelParts {
  readonly collections: Collections;
  /** Newest entries to hold per feed, where a model has a cap of its own. */
  readonly cap: number;
  /** For commands; null where there is no Redis. */
  readonly redis: RedisClient | null;
  /** What all keys in Redis begin with. */
  readonly redisPrefix: string;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const TIME_BUCKET_MS = DAY_MS;
/** What a document takes until a further one is begun. A delivery rewrites the whole document. */
const TIME_BUCKET_ENTRIES = 100;
const SIZE_BUCKET_ENTRIES = 50;
/** Feeds in Redis expire after a week: those that nobody reads go, others are rebuilt. */
const REDIS_LIFETIME_MS = 7 * DAY_MS;

/** Every feed model, by the name that `FEED_MODEL` gives it. */
export const FEED_MODELS: Readonly<Record<string, (parts: FeedModelParts) => FeedStore>> = {
  items: ({ collections }) => itemsFeedStore(newsfeedItemsRepository(collections.newsfeedItems)),
  capped: ({ collections, cap }) => cappedFeedStore(feedRingsRepository(collections, cap), cap),
  'time-buckets': ({ collections }) =>
    timeBucketsFeedStore(feedBucketsRepository(collections.timeBuckets, TIME_BUCKET_ENTRIES), {
      spanMs: TIME_BUCKET_MS,
    }),
  'size-buckets': ({ collections }) =>
    sizeBucketsFeedStore(feedBucketsRepository(collections.sizeBuckets, SIZE_BUCKET_ENTRIES)),
  'top-cache': ({ collections, cap }) => {
    const held = Math.min(cap, TOP_CACHE_MAX);
    return topCacheFeedStore(feedTopsRepository(collections.feedTops, held), held);
  },
  redis: ({ redis, redisPrefix: prefix, cap }) => {
    if (redis === null)
      throw new Error('Feed model "redis" keeps feeds in Redis, and there is none: set REDIS_URL');
    return redisFeedStore(redisFeedsRepository(redis, { prefix, cap, lifetimeMs: REDIS_LIFETIME_MS }));
  },
  pull: () => pullFeedStore(),
};

/** @throws when there is no model of this name, naming those there are, or when a part that it needs is missing. */
export function createFeedStore(model: string, parts: FeedModelParts): FeedStore {
  const create = FEED_MODELS[model];
  if (create === undefined)
    throw new Error(`Unknown feed model "${model}". Known models: ${Object.keys(FEED_MODELS).join(', ')}`);
  return create(parts);
}

/**
 * The store of the model, and those of all others that keep feeds in the database: another choice of model may have left
 * some there. For callers that have to find everything that is stored of a reader.
 */
export function createEveryFeedStore(model: string, parts: FeedModelParts): readonly FeedStore[] {
  const others = FEED_MODEL_NAMES.filter((name) => name !== model && name !== 'redis');
  return [model, ...others].map((name) => createFeedStore(name, parts));
}

export const FEED_MODEL_NAMES: readonly string[] = Object.keys(FEED_MODELS);
