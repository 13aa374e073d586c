import type { FeedModel } from '../../feed-model.ts';
import { storedEntriesIndexes } from '../shared/stored-entries-indexes.ts';
import { openCollections } from '../../../storage/mongo.ts';
import { feedOpener } from './open-feed.ts';
import { newsfeedItemsRepository } from './repository.ts';
import { itemsFeedStore } from './store.ts';

const COLLECTION = 'newsfeedItems';

export const itemsModel: FeedModel = {
  name: 'items',
  indexes: storedEntriesIndexes(COLLECTION),
  open: ({ db, feedEpoch }) =>
    itemsFeedStore(
      newsfeedItemsRepository(db.collection(COLLECTION)),
      feedOpener(openCollections(db), COLLECTION, feedEpoch),
    ),
};
