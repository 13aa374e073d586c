import type { Collection } from 'mongodb';
import { bucketOf } from '../../lib/bucket-of.ts';
import { retryOnDuplicateKey } from '../database/errors.ts';
import type { DirectoryStampDocument } from '../documents/installation-documents.ts';
import { newRevision } from '../stages/revision.ts';
import { ofInstallation } from '../documents/declaration.ts';

export const DIRECTORY_STAMPS = ofInstallation(
  'directoryStamps',
  'when names last changed, by hashes of ids',
);

/** State of the directory as of one read. */
export class DirectoryStamp {
  /** Changes whenever a name, type or group of any member or ref changes. */
  readonly stamp: number;
  readonly #buckets: Readonly<Record<string, number>>;

  constructor(stamp: number, buckets: Readonly<Record<string, number>>) {
    this.stamp = stamp;
    this.#buckets = buckets;
  }

  /** Changes whenever the name of this id, or of another one in its bucket, changes. */
  stampOf(id: string): number {
    return this.#buckets[bucketOf(id)] ?? NEVER_STAMPED;
  }
}

/** The stamp before any change. */
export const NEVER_STAMPED = 0;

/**
 * Records in one document when names of members and refs last changed. The document is stamped after each change, so a
 * reader that reads the stamp before the names never caches names older than the stamp.
 */
export function directoryStampsRepository(collection: Collection<DirectoryStampDocument>) {
  async function stamp(ids: readonly string[]): Promise<void> {
    const revision = newRevision();
    const buckets = Object.fromEntries(ids.map((id) => [`buckets.${bucketOf(id)}`, revision]));
    await retryOnDuplicateKey(() =>
      collection.updateOne({ _id: 'directory' }, { $set: { stamp: revision, ...buckets } }, { upsert: true }),
    );
  }

  return {
    async read(): Promise<DirectoryStamp> {
      const document = await collection.findOne({ _id: 'directory' });
      return new DirectoryStamp(document?.stamp ?? NEVER_STAMPED, document?.buckets ?? {});
    },

    /**
     * Runs a change of these ids' names and stamps them, even if it failed.
     * @param isWritten whether a successful change has written anything; absent: always.
     */
    async stamping<T>(
      ids: readonly string[],
      change: () => Promise<T>,
      isWritten: (result: T) => boolean = () => true,
    ): Promise<T> {
      let mayBeWritten = true;
      try {
        const result = await change();
        mayBeWritten = isWritten(result);
        return result;
      } finally {
        if (mayBeWritten) await stamp(ids);
      }
    },
  };
}

export type DirectoryStampsRepository = ReturnType<typeof directoryStampsRepository>;
