import type { FeedModel } from '../../../src/feed/feed-store.ts';
import { sizeBucketsModel, timeBucketsModel } from './buckets/store.ts';
import { cappedModel } from './capped/store.ts';
import { redisModel } from './redis/store.ts';
import { topCacheModel } from './top-cache/store.ts';

/** A line for each: that and its folder are all of it. */
export const models: readonly FeedModel[] = [
  cappedModel,
  timeBucketsModel,
  sizeBucketsModel,
  topCacheModel,
  redisModel,
];
