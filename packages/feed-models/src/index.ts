import type { FeedModel } from '../../../src/feeds/feed-model.ts';
import { sizeBucketsModel, timeBucketsModel } from './buckets/models.ts';
import { cappedModel } from './capped/model.ts';
import { redisModel } from './redis/model.ts';
import { topCacheModel } from './top-cache/model.ts';

/** A line for each: that and its folder are all of it. */
export const models: readonly FeedModel[] = [
  cappedModel,
  timeBucketsModel,
  sizeBucketsModel,
  topCacheModel,
  redisModel,
];
