import { index, type IndexDefinition } from '../../../storage/indexes/index-definition.ts';

/** Indexes of a collection with one document per entry and the shard key `userId`. */
export function pageIndex(collection: string): IndexDefinition {
  return index(
    collection,
    'page',
    { userId: 1, relevancy: -1, actionId: -1 },
    'feed page and unread count of a reader',
  );
}

/** For models whose ids do not begin with the action. */
export function holdersIndex(collection: string): IndexDefinition {
  return index(
    collection,
    'holders',
    { actionId: 1, userId: 1 },
    'delivery: who holds an action; cascade: all entries of an action',
  );
}
