import type { Collection } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import { bucketOf } from '../../lib/bucket-of.ts';
import { retryOnDuplicateKey } from '../database/errors.ts';
import type { ReaderStampsDocument } from '../documents/installation-documents.ts';
import { newRevision } from '../stages/revision.ts';

/** By bucket, as they were at one time. Readers share a stamp with all others of their bucket. */
export type Stamps = Readonly<Record<string, number>>;

export interface ReaderStamps {
  read(): Promise<Stamps>;
  /** Once what decides over these readers' feeds has changed, and before the change is reported as done. */
  renew(userIds: readonly UserId[]): Promise<void>;
}

/** For who keeps nothing of readers in mind. */
export const NO_STAMPS: ReaderStamps = {
  read: () => Promise.resolve({}),
  renew: () => Promise.resolve(),
};

/**
 * Tells processes that keep a reader's profile in mind whether it still holds, by one document for all readers. A profile
 * that was read after a stamp holds for as long as the stamp is the same. Unique key: `_id`.
 */
export function readerStamps(collection: Collection<ReaderStampsDocument>): ReaderStamps {
  return {
    async read() {
      return (await collection.findOne({ _id: 'readers' }))?.stamps ?? {};
    },
    async renew(userIds) {
      if (userIds.length === 0) return;
      const renewed = userIds.map((userId) => [`stamps.${bucketOf(userId)}`, newRevision()] as const);
      await retryOnDuplicateKey(() =>
        collection.updateOne({ _id: 'readers' }, { $set: Object.fromEntries(renewed) }, { upsert: true }),
      );
    },
  };
}
