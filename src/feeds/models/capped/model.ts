import type { FeedModel } from '../../feed-model.ts';
import { storedEntriesIndexes } from '../shared/stored-entries-indexes.ts';
import { cappedCollections, feedRingsRepository } from './repository.ts';
import { cappedFeedStore } from './store.ts';

export const cappedModel: FeedModel = {
  name: 'capped',
  // Rings are found by their ids.
  indexes: storedEntriesIndexes('feedSlots'),
  open: ({ db, cap }) => cappedFeedStore(feedRingsRepository(cappedCollections(db), cap), cap),
};
