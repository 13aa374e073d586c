import { feedCollection } from '../../../storage/documents/declaration.ts';
import type { FeedModel } from '../../feed-model.ts';
import { PAGE_INDEX } from '../shared/stored-entries-indexes.ts';
import { openCollections } from '../../../storage/open-database.ts';
import { feedOpener } from './open-feed.ts';
import { newsfeedItemsRepository } from './repository.ts';
import { itemsFeedStore } from './store.ts';

const COLLECTION = 'newsfeedItems';

export const itemsModel: FeedModel = {
  name: 'items',
  collections: [
    feedCollection(COLLECTION, {
      holds: 'an entry of a feed',
      reader: 'userId',
      // All else is found by `_id`.
      indexes: [PAGE_INDEX],
      serves: 'page, unread count and deliveries of a reader',
    }),
  ],
  open: ({ db, feedEpoch, isSharded = false }) =>
    itemsFeedStore(
      newsfeedItemsRepository(db.collection(COLLECTION), db.collection(COLLECTION)),
      // Would work on a sharded cluster, too, but the reader's shard would query other shards once per action.
      isSharded ? null : feedOpener(openCollections(db), COLLECTION, feedEpoch),
    ),
};
