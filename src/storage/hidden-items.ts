import { ObjectId, type Collection } from 'mongodb';
import type { ActionId, UserId } from '../domain/action.ts';
import type { HiddenItemDocument } from './documents.ts';
import { retryOnDuplicateKey } from './errors.ts';

/** Items readers have hidden from their own feeds. Unique key: userId, actionId. */
export function hiddenItemsRepository(collection: Collection<HiddenItemDocument>) {
  return {
    async hide(userId: UserId, actionId: ActionId): Promise<void> {
      const key = { userId, actionId: new ObjectId(actionId) };
      await retryOnDuplicateKey(() => collection.updateOne(key, { $setOnInsert: key }, { upsert: true }));
    },

    async unhide(userId: UserId, actionId: ActionId): Promise<void> {
      await collection.deleteOne({ userId, actionId: new ObjectId(actionId) });
    },

    /** Those of the actions that the reader has hidden. Index `reader`. */
    async find(userId: UserId, actionIds: readonly ActionId[]): Promise<ActionId[]> {
      const documents = await collection
        .find({ userId, actionId: { $in: actionIds.map((id) => new ObjectId(id)) } })
        .batchSize(actionIds.length + 1)
        .toArray();
      return documents.map((document) => document.actionId.toHexString());
    },

    async purgeAction(actionId: ActionId): Promise<void> {
      await collection.deleteMany({ actionId: new ObjectId(actionId) });
    },
  };
}

export type HiddenItemsRepository = ReturnType<typeof hiddenItemsRepository>;
