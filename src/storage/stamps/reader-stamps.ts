import type { Collection } from 'mongodb';
import type { UserId } from '../../domain/action.ts';
import { bucketOf } from '../../lib/bucket-of.ts';
import { retryOnDuplicateKey } from '../database/errors.ts';
import type { ReaderStampsDocument } from '../documents/installation-documents.ts';
import { newRevision } from '../stages/revision.ts';
import { ofInstallation } from '../documents/declaration.ts';

declare module '../repositories.ts' {
  interface Repositories {
    readonly readerStamps: ReturnType<typeof readerStamps>;
  }
}

export const READER_STAMPS = ofInstallation(
  'readerStamps',
  'when readers last changed something, by hashes of ids',
);

/** Stamps by bucket at one time. All readers of a bucket share its stamp. */
export type Stamps = Readonly<Record<string, number>>;

export interface ReaderStamps {
  /** Called after a change that affects these readers' feeds, and before the change is reported as done. */
  renew(userIds: readonly UserId[]): Promise<void>;
}

/** The only document. */
export const ALL_READERS = { _id: 'readers' } as const;

/** For callers that cache nothing about readers. */
export const NO_STAMPS: ReaderStamps = {
  renew: () => Promise.resolve(),
};

/**
 * Lets processes validate cached reader profiles by a single document for all readers. A profile read after a stamp is valid
 * as long as the stamp is unchanged. Unique key: `_id`.
 */
export function readerStamps(collection: Collection<ReaderStampsDocument>): ReaderStamps {
  return {
    async renew(userIds) {
      if (userIds.length === 0) return;
      const renewed = userIds.map((userId) => [`stamps.${bucketOf(userId)}`, newRevision()] as const);
      await retryOnDuplicateKey(() =>
        collection.updateOne(ALL_READERS, { $set: Object.fromEntries(renewed) }, { upsert: true }),
      );
    },
  };
}
