import { feedCollection, index } from '../../../../src/storage/documents/declaration.ts';
import type { FeedModel } from '../../../../src/feeds/feed-model.ts';
import { feedTopsRepository } from './repository.ts';
import { TOP_CACHE_MAX, topCacheFeedStore } from './store.ts';

const COLLECTION = 'feedTops';

export const topCacheModel: FeedModel = {
  name: 'top-cache',
  collections: [
    feedCollection(COLLECTION, {
      reader: '_id',
      holds: 'the newest entries of a feed',
      indexes: [
        index(
          'holders',
          { 'entries.actionId': 1, _id: 1 },
          'feed model top-cache: who holds an action; cascade',
        ),
      ],
      serves: 'the feed of a reader',
    }),
  ],
  open: ({ db, cap }) => {
    const kept = Math.min(cap, TOP_CACHE_MAX);
    return topCacheFeedStore(feedTopsRepository(db.collection(COLLECTION), kept), kept);
  },
};
