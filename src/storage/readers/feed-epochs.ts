import type { Collection } from 'mongodb';
import type { FeedEpochDocument } from '../documents/installation-documents.ts';
import { retryOnDuplicateKey } from '../database/errors.ts';

/** Feeds that say nothing of it were made under the first choice of a model. */
export const FIRST_EPOCH = 1;

/**
 * The number of the choice of this feed model: it rises whenever another model is chosen than the one before, also when
 * one comes back, since deliveries have skipped its feeds meanwhile. One atomic write; processes that choose the same
 * agree. Unique key: `_id`.
 */
export async function chooseFeedModel(
  collection: Collection<FeedEpochDocument>,
  model: string,
): Promise<number> {
  const document = await retryOnDuplicateKey(() =>
    collection.findOneAndUpdate(
      { _id: 'feeds' },
      [
        {
          $set: {
            epoch: {
              $cond: [
                { $eq: ['$model', model] },
                '$epoch',
                { $add: [{ $ifNull: ['$epoch', FIRST_EPOCH - 1] }, 1] },
              ],
            },
            model,
          },
        },
      ],
      { upsert: true, returnDocument: 'after' },
    ),
  );
  if (document === null) throw new Error('An upsert gave no document back');
  return document.epoch;
}
