import type { FeedModel } from '../../feed-model.ts';
import { pullFeedStore } from './store.ts';

export const pullModel: FeedModel = { name: 'pull', collections: [], open: () => pullFeedStore() };
