import type { FeedModel } from '../../../../src/feeds/feed-model.ts';
import { feedCollection, index } from '../../../../src/storage/documents/declaration.ts';
import { HOLDERS_INDEX, PAGE_INDEX } from '../../../../src/feeds/models/shared/stored-entries-indexes.ts';
import { cappedCollections, feedRingsRepository } from './repository.ts';
import { cappedFeedStore } from './store.ts';

export const cappedModel: FeedModel = {
  name: 'capped',
  collections: [
    feedCollection('feedSlots', {
      reader: 'userId',
      holds: 'a place in the ring of a feed, with its entry',
      indexes: [
        PAGE_INDEX,
        HOLDERS_INDEX,
        index('entry', { userId: 1, actionId: 1 }, 'feed model capped: an action has one place in a ring', {
          unique: true,
        }),
      ],
      serves: 'page and deliveries of a reader',
    }),
    feedCollection('feedRings', {
      reader: '_id',
      holds: 'the ring of a feed',
      indexes: [],
      serves: 'the feed of a reader',
    }),
  ],
  open: ({ db, cap }) => cappedFeedStore(feedRingsRepository(cappedCollections(db), cap), cap),
};
