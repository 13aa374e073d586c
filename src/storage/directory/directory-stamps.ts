import type { Collection } from 'mongodb';
import { bucketOf } from '../../lib/bucket-of.ts';
import { retryOnDuplicateKey } from '../database/errors.ts';
import type { DirectoryStampDocument } from '../documents/installation-documents.ts';
import { newRevision } from '../stages/revision.ts';

/** What the directory said of itself at one time. */
export class DirectoryStamp {
  /** Another one after every change of a name, type or group of any member or ref. */
  readonly stamp: number;
  readonly #buckets: Readonly<Record<string, number>>;

  constructor(stamp: number, buckets: Readonly<Record<string, number>>) {
    this.stamp = stamp;
    this.#buckets = buckets;
  }

  /** Another one after each change of what the id, or any other of its bucket, is called. */
  stampOf(id: string): number {
    return this.#buckets[bucketOf(id)] ?? NEVER_STAMPED;
  }
}

/** As long as nothing has been changed. */
export const NEVER_STAMPED = 0;

/**
 * Says when what members and refs are called has last changed, in one document. It is stamped after each such change, so
 * who reads the stamp before the names holds nothing older than the stamp says.
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
     * Runs a change of what these ids are called, and stamps them whatever became of it.
     * @param isWritten whether a change that did not fail has written anything; absent: it always has.
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
