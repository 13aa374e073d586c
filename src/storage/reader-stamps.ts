import { randomInt } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { UserId } from '../domain/action.ts';
import { retryOnDuplicateKey } from './errors.ts';
import type { ReaderStampsDocument } from './installation-documents.ts';

/** Readers share a stamp with all others of their bucket: what changes for one is read again for each of them. */
const BUCKETS = 256;
/** Random, so that a database that was set back cannot repeat one. */
const STAMPS = 2 ** 47;

/** The stamps as they were at one time. */
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
      const renewed = userIds.map((userId) => [`stamps.${stampOf(userId)}`, randomInt(STAMPS)] as const);
      await retryOnDuplicateKey(() =>
        collection.updateOne({ _id: 'readers' }, { $set: Object.fromEntries(renewed) }, { upsert: true }),
      );
    },
  };
}

/** The name of a reader's stamp (FNV-1a). */
export function stampOf(userId: UserId): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < userId.length; at += 1) hash = Math.imul(hash ^ userId.charCodeAt(at), 0x01000193);
  return String((hash >>> 0) % BUCKETS);
}
