import type { FeedModel, FeedModelParts, FeedStore } from '../feed/feed-store.ts';
import { itemsModel } from '../feed/models/items.ts';
import { pullModel } from '../feed/models/pull.ts';
import type { Declaration } from '../storage/documents/declaration.ts';
import { FEATURES } from './features.ts';

/** The models of the core and of parts. */
const FEED_MODELS: readonly FeedModel[] = [
  itemsModel,
  ...FEATURES.flatMap(({ feedModels = [] }) => feedModels),
  pullModel,
];

export const FEED_MODEL_NAMES: readonly string[] = FEED_MODELS.map(({ name }) => name);

/** The collections of every model: feeds may be left in the database by another choice of model. */
export const FEED_COLLECTIONS: readonly Declaration[] = FEED_MODELS.flatMap(({ collections }) => collections);

/** @throws when the name is unknown, listing the known models, or when a required part is missing. */
export function createFeedStore(name: string, parts: FeedModelParts): FeedStore {
  const model = FEED_MODELS.find((known) => known.name === name);
  if (model === undefined)
    throw new Error(`Unknown feed model "${name}". Known models: ${FEED_MODEL_NAMES.join(', ')}`);
  return model.open(parts);
}

/** The model's store and those of all other models with feeds in the database. */
export function createEveryFeedStore(name: string, parts: FeedModelParts): readonly FeedStore[] {
  const others = FEED_MODELS.filter((model) => model.name !== name && model.collections.length > 0);
  return [createFeedStore(name, parts), ...others.map((model) => model.open(parts))];
}
