import { index, type IndexDefinition } from '../../../storage/index-definition.ts';

/** Of a collection with a document for each entry. */
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
      'delivery',
      { actionId: 1, userId: 1 },
      'idempotent delivery, one entry per reader and action; cascade: all entries of an action',
      { unique: true },
    ),
  ];
}
