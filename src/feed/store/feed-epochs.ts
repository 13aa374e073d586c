import type { Collection } from 'mongodb';
import type { FeedEpochDocument } from '../../storage/documents/installation-documents.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import { ofInstallation } from '../../storage/documents/declaration.ts';

export const FEED_EPOCHS = ofInstallation('feedEpochs', 'the current feed model');

/** Epoch of feeds that do not state one: built with the first choice of model. */
export const FIRST_EPOCH = 1;

/**
 * The epoch of this choice of feed model. It increases whenever a different model is chosen, also when an earlier one comes
 * back, since deliveries have skipped its feeds meanwhile. One atomic write; processes with the same choice agree. Unique
 * key: `_id`.
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
