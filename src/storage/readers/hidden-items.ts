import { ObjectId, type Collection } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';
import type { HiddenItemDocument } from '../documents/reader-documents.ts';
import { inOneBatch } from '../database/in-one-batch.ts';

export interface HiddenPair {
  readonly userId: UserId;
  readonly actionId: ActionId;
}

/** Hidden items not yet migrated to `item-marks.ts`. Unique key: userId, actionId. */
export function hiddenItemsRepository(collection: Collection<HiddenItemDocument>) {
  return {
    async unhide(userId: UserId, actionId: ActionId): Promise<void> {
      await collection.deleteOne({ userId, actionId: new ObjectId(actionId) });
    },

    /** Those of the actions that the reader has hidden. Index `reader`. */
    async find(userId: UserId, actionIds: readonly ActionId[]): Promise<ActionId[]> {
      const documents = await inOneBatch(
        collection.find({ userId, actionId: { $in: actionIds.map((id) => new ObjectId(id)) } }),
        actionIds.length,
      );
      return documents.map((document) => document.actionId.toHexString());
    },

    /** Hidden items of these readers among these actions. Index `reader`. */
    async findPairs(pairs: readonly HiddenPair[]): Promise<HiddenPair[]> {
      const documents = await collection
        .find({
          userId: { $in: [...new Set(pairs.map(({ userId }) => userId))] },
          actionId: {
            $in: [...new Set(pairs.map(({ actionId }) => actionId))].map((id) => new ObjectId(id)),
          },
        })
        .toArray();
      return documents.map(({ userId, actionId }) => ({ userId, actionId: actionId.toHexString() }));
    },

    async purgeAction(actionId: ActionId): Promise<void> {
      await collection.deleteMany({ actionId: new ObjectId(actionId) });
    },
  };
}

export type HiddenItemsRepository = ReturnType<typeof hiddenItemsRepository>;
