import type { FeedModel, FeedModelParts } from './feed-model.ts';
import type { FeedStore } from './feed-store.ts';
import { sizeBucketsModel, timeBucketsModel } from './models/buckets/models.ts';
import { cappedModel } from './models/capped/model.ts';
import { itemsModel } from './models/items/model.ts';
import { pullModel } from './models/pull/model.ts';
import { redisModel } from './models/redis/model.ts';
import { topCacheModel } from './models/top-cache/model.ts';

const FEED_MODELS: readonly FeedModel[] = [
  itemsModel,
  cappedModel,
  timeBucketsModel,
  sizeBucketsModel,
  topCacheModel,
  redisModel,
  pullModel,
];

export const FEED_MODEL_NAMES: readonly string[] = FEED_MODELS.map(({ name }) => name);

export const FEED_COLLECTIONS = FEED_MODELS.flatMap(({ collections }) => collections);

/** @throws when the name is unknown, listing the known models, or when a required part is missing. */
export function createFeedStore(name: string, parts: FeedModelParts): FeedStore {
  return modelNamed(name).open(parts);
}

function modelNamed(name: string): FeedModel {
  const model = FEED_MODELS.find((known) => known.name === name);
  if (model === undefined)
    throw new Error(`Unknown feed model "${name}". Known models: ${FEED_MODEL_NAMES.join(', ')}`);
  return model;
}

/** The model's store and those of all other models in the database: another choice of model may have left feeds there. */
export function createEveryFeedStore(model: string, parts: FeedModelParts): readonly FeedStore[] {
  const others = FEED_MODEL_NAMES.filter((name) => name !== model && name !== 'redis');
  return [model, ...others].map((name) => createFeedStore(name, parts));
}
