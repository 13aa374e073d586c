import type { Collection, Document } from 'mongodb';
import { bucketOf } from '../../lib/bucket-of.ts';
import { retryOnDuplicateKey } from '../database/errors.ts';
import type { DirectoryStampDocument } from '../documents/installation-documents.ts';
import { newRevision, literal } from '../stages/revision.ts';
import { ofInstallation } from '../documents/declaration.ts';
import type { ActionTexts, RefId } from '../../domain/action.ts';
import { isUnnamed } from '../../domain/block.ts';
import { namedIdsOf } from '../../descriptors/names.ts';
import { STAMP_SEPARATOR } from '../documents/ids.ts';

/**
 * An action lists the names it copies in one flat array, as `id`, tab, version. Ids contain no tab, so the stamps of one id
 * form a range, oldest first, and a single index finds copies older than a version without reading the others.
 */
const AFTER_SEPARATOR = '\n';
const VERSION_DIGITS = 10;

/** Version of a published copy: lower than any version written by a rename. */
export const UNCARRIED = 0;

export function nameStamp(id: RefId, version: number): string {
  return `${id}${STAMP_SEPARATOR}${String(version).padStart(VERSION_DIGITS, '0')}`;
}

/** Ids whose names an action copies: its refs, and those named in its descriptor. */
export function namesShown(action: ActionTexts): RefId[] {
  const ids = new Set([...action.refs.map((ref) => ref.id), ...namedIdsOf(action.descriptor)]);
  return [...ids].filter((id) => !isUnnamed(action, id));
}

export function idOfStamp(stamp: string): RefId {
  return stamp.slice(0, stamp.lastIndexOf(STAMP_SEPARATOR));
}

/** The same names, whatever version the copies have. */
export function uncarried(stamps: readonly string[]): string[] {
  return stamps.map((stamp) => nameStamp(idOfStamp(stamp), UNCARRIED));
}

/** Filter for actions that copy the name in any version. Index `names`. */
export function holdsName(id: RefId): Document {
  return { names: { $elemMatch: { $gte: `${id}${STAMP_SEPARATOR}`, $lt: `${id}${AFTER_SEPARATOR}` } } };
}

/** Filter for actions that copy the name in an older version. Index `names`. */
export function holdsOlderName(id: RefId, version: number): Document {
  return { names: { $elemMatch: { $gte: `${id}${STAMP_SEPARATOR}`, $lt: nameStamp(id, version) } } };
}

/** Expression for an action's stamps after updating a name to this version. */
export function restamped(id: RefId, version: number): Document {
  const stamp = literal(nameStamp(id, version));
  const isOlder = {
    $and: [{ $gte: ['$$stamp', literal(`${id}${STAMP_SEPARATOR}`)] }, { $lt: ['$$stamp', stamp] }],
  };
  return { $map: { input: '$names', as: 'stamp', in: { $cond: [isOlder, stamp, '$$stamp'] } } };
}

export const DIRECTORY_STAMPS = ofInstallation(
  'directoryStamps',
  'when names last changed, by hashes of ids',
);

/** Versions of names as of one time. */
export interface DirectoryAsOf {
  /** Changes whenever a name, type or group of any member or ref changes. */
  readonly stamp: number;
  /** Changes whenever the name of this id, or of another one in its bucket, changes. */
  stampOf(id: string): number;
}

/** State of the directory as of one read. */
export class DirectoryStamp implements DirectoryAsOf {
  readonly stamp: number;
  readonly #buckets: Readonly<Record<string, number>>;

  constructor(stamp: number, buckets: Readonly<Record<string, number>>) {
    this.stamp = stamp;
    this.#buckets = buckets;
  }

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
    async read(): Promise<DirectoryAsOf> {
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
