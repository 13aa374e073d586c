import type { FeedModel } from '../../feed-model.ts';
import { storedEntriesIndexes } from '../shared/stored-entries-indexes.ts';
import { newsfeedItemsRepository } from './repository.ts';
import { itemsFeedStore } from './store.ts';

const COLLECTION = 'newsfeedItems';

export const itemsModel: FeedModel = {
  name: 'items',
  indexes: storedEntriesIndexes(COLLECTION),
  open: ({ db }) => itemsFeedStore(newsfeedItemsRepository(db.collection(COLLECTION))),
};
