import type { Collection, Document } from 'mongodb';
import type { ActionRef, RefId } from '../domain/action.ts';
import type { Ref, RenameProgress } from '../domain/member.ts';
import type { RefDocument } from './documents.ts';
import { retryOnDuplicateKey } from './errors.ts';
import { renamed } from './rename-stages.ts';
import { clock } from '../lib/clock.ts';

function toRef(document: RefDocument): Ref {
  return {
    refId: document._id,
    type: document.type ?? null,
    label: document.label ?? null,
    followerCount: document.followerCount,
    ...(document.label === undefined ? {} : { rename: toRename(document) }),
  };
}

function toRename({ version, propagated, rename }: RefDocument): RenameProgress {
  return { version, propagated: propagated ?? 0, error: rename?.error ?? null };
}

/** Stages that describe a ref; without a type it keeps the one it has. */
function described(ref: { readonly type?: string; readonly label: string }, now: Date): Document[] {
  return [
    {
      $set: {
        // A literal, since a string that begins with "$" would be read as a path here.
        ...(ref.type === undefined ? {} : { type: { $literal: ref.type } }),
        ...renamed('label', ref.label, now),
        followerCount: { $ifNull: ['$followerCount', 0] },
      },
    },
  ];
}

export function refsRepository(collection: Collection<RefDocument>) {
  return {
    /**
     * Sets type and label of many refs in one write; a changed label is due to be carried to its copies. Unique key:
     * `_id`.
     */
    async upsert(refs: readonly ActionRef[]): Promise<void> {
      const now = clock.now();
      const operations = refs.map((ref) => ({
        updateOne: { filter: { _id: ref.id }, update: described(ref, now), upsert: true },
      }));
      await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
    },

    /** Gives a described ref another label, in one write. Null when there is none, or it has no label yet. */
    async relabel(refId: RefId, label: string): Promise<Ref | null> {
      const document = await collection.findOneAndUpdate(
        { _id: refId, label: { $exists: true } },
        described({ label }, clock.now()),
        { returnDocument: 'after' },
      );
      return document === null ? null : toRef(document);
    },

    /** Describes a ref that may not have been described before. Unique key: `_id`. */
    async describe(refId: RefId, ref: { readonly type?: string; readonly label: string }): Promise<Ref> {
      const document = await retryOnDuplicateKey(() =>
        collection.findOneAndUpdate({ _id: refId }, described(ref, clock.now()), {
          upsert: true,
          returnDocument: 'after',
        }),
      );
      if (document === null) throw new Error('An upsert gave no document back');
      return toRef(document);
    },

    async findByIds(ids: readonly RefId[]): Promise<Ref[]> {
      const documents = await collection
        .find({ _id: { $in: [...ids] } })
        .batchSize(ids.length + 1)
        .toArray();
      return documents.map(toRef);
    },

    /** Refs that are or were pulled, and since when they are; null: not any more. Index `pulled`. */
    async pulled(): Promise<Map<RefId, Date | null>> {
      const documents = await collection
        .find({ isPulled: { $exists: true } })
        .project<Pick<RefDocument, '_id' | 'pullSince'>>({ pullSince: 1 })
        .toArray();
      return new Map(documents.map(({ _id, pullSince }) => [_id, pullSince ?? null]));
    },

    /**
     * Has refs above the threshold pulled from `since` on, and those that are no longer above it pushed again. Two
     * writes that look at such refs alone. Indexes `followers`, `pulled`.
     */
    async choosePulled(threshold: number, since: Date): Promise<void> {
      await collection.updateMany(
        { followerCount: { $gt: threshold }, pullSince: { $exists: false } },
        { $set: { isPulled: true, pullSince: since } },
      );
      await collection.updateMany(
        { isPulled: { $exists: true }, followerCount: { $lte: threshold }, pullSince: { $exists: true } },
        { $unset: { pullSince: 1 } },
      );
    },
  };
}

export type RefsRepository = ReturnType<typeof refsRepository>;
