import { CORE_COLLECTIONS } from '../../src/app/features.ts';
import type { Database } from '../../src/storage/database/mongo.ts';
import { type ReaderActionId, readerActionId } from '../../src/storage/documents/reader-action-id.ts';

/** Collections with a document for each reader and action. */
export const READER_ACTIONS = CORE_COLLECTIONS.filter(
  ({ action, shard }) =>
    'id' in action && action.id === '_id.actionId' && 'key' in shard && '_id.userId' in shard.key,
);

/** One of each of these for a reader who has none: a new collection is in what tests look at without a row of its own. */
export async function fillReaderActions(
  { db }: Pick<Database, 'db'>,
  userId: string,
  actionId: string,
): Promise<void> {
  for (const { name } of READER_ACTIONS) {
    const collection = db.collection<{ _id: ReaderActionId; at: Date }>(name);
    if ((await collection.findOne({ '_id.userId': userId })) === null)
      await collection.insertOne({ _id: readerActionId(userId, actionId), at: new Date() });
  }
}
