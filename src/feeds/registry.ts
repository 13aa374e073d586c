import type { Collections } from '../storage/mongo.ts';
import { newsfeedItemsRepository } from '../storage/newsfeed-items.ts';
import type { FeedStore } from './feed-store.ts';
import { itemsFeedStore } from './models/items.ts';

export interface FeedModelParts {
  readonly collections: Collections;
}

/** Every feed model, by the name that `FEED_MODEL` gives it. */
export const FEED_MODELS: Readonly<Record<string, (parts: FeedModelParts) => FeedStore>> = {
  items: ({ collections }) => itemsFeedStore(newsfeedItemsRepository(collections.newsfeedItems)),
};

/** @throws when there is no model of this name; names those there are. */
export function createFeedStore(model: string, parts: FeedModelParts): FeedStore {
  const create = FEED_MODELS[model];
  if (create === undefined)
    throw new Error(`Unknown feed model "${model}". Known models: ${Object.keys(FEED_MODELS).join(', ')}`);
  return create(parts);
}

export const FEED_MODEL_NAMES: readonly string[] = Object.keys(FEED_MODELS);
