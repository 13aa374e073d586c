import { index } from '../../../storage/documents/declaration.ts';

/** For a collection with one document per entry and the shard key `userId`. */
export const PAGE_INDEX = index(
  'page',
  { userId: 1, relevancy: -1, actionId: -1 },
  'feed page and unread count of a reader',
);

/** For models whose ids do not begin with the action. */
export const HOLDERS_INDEX = index(
  'holders',
  { actionId: 1, userId: 1 },
  'delivery: who holds an action; cascade: all entries of an action',
);
