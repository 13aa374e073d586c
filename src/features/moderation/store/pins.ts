import { ObjectId } from 'mongodb';
import type { ActionId, RefId } from '../../../domain/action.ts';
import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import type { Collections } from '../../../storage/database/mongo.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly pins: ReturnType<typeof pinsRepository>;
  }
}

/** Actions pinned to the top of a ref's page, stored in the ref. Unique key: `_id`. */
export function pinsRepository({ refs }: Collections) {
  return {
    /** Pins an action above the others, in one write; `false` when the ref already has the maximum number of pins. */
    async pin(refId: RefId, actionId: ActionId, max: number): Promise<boolean> {
      const id = new ObjectId(actionId);
      const pinned = { $ifNull: ['$pinned', []] };
      const isToStay = { $or: [{ $in: [id, pinned] }, { $gte: [{ $size: pinned }, max] }] };
      const document = await retryOnDuplicateKey(() =>
        refs.findOneAndUpdate(
          { _id: refId },
          [
            {
              $set: {
                pinned: { $cond: [isToStay, pinned, { $concatArrays: [[id], pinned] }] },
                version: { $ifNull: ['$version', 0] },
                followerCount: { $ifNull: ['$followerCount', 0] },
              },
            },
          ],
          { upsert: true, returnDocument: 'after', projection: { pinned: 1 } },
        ),
      );
      return document?.pinned?.some((other) => other.equals(id)) === true;
    },

    /** All pins, visible or not; latest first. */
    async of(refId: RefId): Promise<ActionId[]> {
      const document = await refs.findOne({ _id: refId }, { projection: { pinned: 1 } });
      return (document?.pinned ?? []).map((id) => id.toHexString());
    },

    /** Removes pins of these actions from the refs. */
    async unpin(refIds: readonly RefId[], actionIds: readonly ActionId[]): Promise<void> {
      if (refIds.length === 0 || actionIds.length === 0) return;
      const pinned = actionIds.map((id) => new ObjectId(id));
      await refs.updateMany({ _id: { $in: [...refIds] }, pinned: { $in: pinned } }, { $pullAll: { pinned } });
    },
  };
}

export type PinsRepository = ReturnType<typeof pinsRepository>;
