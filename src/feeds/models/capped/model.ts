import type { FeedModel } from '../../feed-model.ts';
import { index } from '../../../storage/indexes/index-definition.ts';
import { holdersIndex, pageIndex } from '../shared/stored-entries-indexes.ts';
import { cappedCollections, feedRingsRepository } from './repository.ts';
import { cappedFeedStore } from './store.ts';

const COLLECTION = 'feedSlots';

export const cappedModel: FeedModel = {
  name: 'capped',
  // Rings are found by `_id`.
  indexes: [
    pageIndex(COLLECTION),
    holdersIndex(COLLECTION),
    index(
      COLLECTION,
      'entry',
      { userId: 1, actionId: 1 },
      'feed model capped: an action has one place in a ring',
      { unique: true },
    ),
  ],
  open: ({ db, cap }) => cappedFeedStore(feedRingsRepository(cappedCollections(db), cap), cap),
};
