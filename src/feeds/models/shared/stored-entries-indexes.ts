import { index, type IndexDefinition } from '../../../storage/indexes/index-definition.ts';

/** Indexes of a collection with one document per entry and the shard key `userId`. */
export function storedEntriesIndexes(collection: string): IndexDefinition[] {
  return [
    index(
      collection,
      'page',
      { userId: 1, relevancy: -1, actionId: -1 },
      'feed page and unread count of a reader',
    ),
    index(
      collection,
      'holders',
      { actionId: 1, userId: 1 },
      'delivery: who holds an action; cascade: all entries of an action',
    ),
  ];
}
