import { index } from '../../../storage/indexes/index-definition.ts';
import type { FeedModel } from '../../feed-model.ts';
import { feedTopsRepository } from './repository.ts';
import { TOP_CACHE_MAX, topCacheFeedStore } from './store.ts';

const COLLECTION = 'feedTops';

export const topCacheModel: FeedModel = {
  name: 'top-cache',
  indexes: [
    index(
      COLLECTION,
      'holders',
      { 'entries.actionId': 1, _id: 1 },
      'feed model top-cache: who holds an action; cascade',
    ),
  ],
  open: ({ db, cap }) => {
    const kept = Math.min(cap, TOP_CACHE_MAX);
    return topCacheFeedStore(feedTopsRepository(db.collection(COLLECTION), kept), kept);
  },
};
