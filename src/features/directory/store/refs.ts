import { upToEntries } from '../../../lib/weight.ts';
import { LRUCache } from 'lru-cache';
import type { Collection, Document } from 'mongodb';
import type { ActionRef, RefId } from '../../../domain/action.ts';
import type { Details, Ref, RefName, RenameProgress } from '../../../domain/member.ts';
import { inSlices, mapInTurns } from '../../../lib/turn.ts';
import { storedDetails } from './details.ts';
import { WITHOUT_DETAILS } from '../../../storage/documents/member-document.ts';
import {
  findNames,
  SEARCH_INDEX,
  searchOf,
  searchStage,
  type NamePosition,
  type NameQuery,
} from './name-search.ts';
import type { DirectoryStampsRepository } from '../../../storage/stamps/directory-stamps.ts';
import type { DetailsDocument, RefDocument } from '../../../storage/documents/directory-documents.ts';
import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import { renamed } from '../../../storage/stages/rename-stages.ts';
import { clock } from '../../../lib/clock.ts';
import { inOneBatch } from '../../../storage/database/batches.ts';
import { literal } from '../../../storage/stages/revision.ts';
import { type Declared, index, RENAME } from '../../../storage/documents/declaration.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly refs: ReturnType<typeof refsRepository>;
  }
}

export const REFS: Declared<'refs'> = {
  name: 'refs',
  holds: 'a thing that can be followed: label, number of followers, pins',
  ids: { ref: ['_id'] },
  indexes: [
    index('pulled', { isPulled: 1 }, 'which refs have actions that are pulled', {
      partialFilterExpression: { isPulled: { $exists: true } },
    }),
    index('followers', { followerCount: -1 }, 'which refs have become too big to push to'),
    RENAME,
    SEARCH_INDEX,
  ],
  shard: { key: { _id: 1 }, serves: 'a ref by id' },
  erase: ['CONCEAL', 'PROFILE'],
  export: ['ref'],
  action: { because: 'its pins go with their actions' },
};

export type RefRecord = ActionRef & Details;

export type PlainRef = Omit<RefDocument, keyof DetailsDocument | 'search'>;

export function toRef(document: PlainRef): Ref {
  return {
    refId: document._id,
    type: document.type ?? null,
    label: document.label ?? null,
    followerCount: document.followerCount,
    ...(document.label === undefined ? {} : { rename: toRename(document) }),
  };
}

function toRename({ version, propagated, rename }: PlainRef): RenameProgress {
  return { version, propagated: propagated ?? 0, error: rename?.error ?? null };
}

/** Stages that describe a ref; a missing type or missing details stay unchanged. */
function described(
  ref: { readonly id: RefId; readonly type?: string; readonly label: string },
  now: Date,
  details?: Details,
): Document[] {
  return [
    {
      $set: {
        ...(ref.type === undefined ? {} : { type: literal(ref.type) }),
        ...renamed('label', ref.label, now),
        followerCount: { $ifNull: ['$followerCount', 0] },
        ...(details === undefined ? {} : storedDetails(details)),
      },
    },
    searchStage(ref.id, ref.label),
  ];
}

/** Refs per write: serialising a thousand blocks the event loop. */
const WRITTEN_AT_ONCE = 200;

/** Refs that a process knows to be searchable, and for how long it relies on that: an erasure may have removed them. */
const KNOWN_REFS = { ...upToEntries(10_000), ttl: 600_000 };

export function refsRepository(
  collection: Collection<RefDocument>,
  directoryStamps: DirectoryStampsRepository,
) {
  const searchable = new LRUCache<RefId, true>(KNOWN_REFS);
  return {
    /**
     * Makes refs searchable as an action names them, unless they are already. Their type and label stay those of the first
     * action (`firstNaming`) until they are described. One write, none if the process knows all of them. Unique key: `_id`.
     */
    async name(refs: readonly ActionRef[]): Promise<void> {
      const unknown = new Map(refs.filter(({ id }) => !searchable.has(id)).map((ref) => [ref.id, ref]));
      await inSlices([...unknown.values()], WRITTEN_AT_ONCE, async (some) => {
        const operations = await mapInTurns(some, ({ id, label, type }) => ({
          updateOne: {
            filter: { _id: id },
            update: [
              {
                $set: {
                  search: { $ifNull: ['$search', literal(searchOf(id, label, type))] },
                  followerCount: { $ifNull: ['$followerCount', 0] },
                },
              },
            ],
            upsert: true,
          },
        }));
        await retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false }));
        for (const { id } of some) searchable.set(id, true);
        return [];
      });
    },

    /** Describes refs in writes of two hundred; changed labels become due for renaming. Unique key: `_id`. */
    async upsert(refs: readonly RefRecord[]): Promise<void> {
      const now = clock.now();
      await inSlices(refs, WRITTEN_AT_ONCE, async (some) => {
        const operations = await mapInTurns(some, (ref) => ({
          updateOne: { filter: { _id: ref.id }, update: described(ref, now, ref), upsert: true },
        }));
        return directoryStamps.stamping(
          some.map(({ id }) => id),
          () => retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false })),
        );
      });
    },

    /** Changes the label of a described ref in one write. `null` when there is none, or it has no label yet. */
    async relabel(refId: RefId, label: string): Promise<Ref | null> {
      const document = await directoryStamps.stamping(
        [refId],
        () =>
          collection.findOneAndUpdate(
            { _id: refId, label: { $exists: true } },
            described({ id: refId, label }, clock.now()),
            { returnDocument: 'after' },
          ),
        (renamed) => renamed !== null,
      );
      return document === null ? null : toRef(document);
    },

    /** Describes a ref that may be unknown. Unique key: `_id`. */
    async describe(refId: RefId, ref: { readonly type?: string; readonly label: string }): Promise<Ref> {
      const document = await directoryStamps.stamping([refId], () =>
        retryOnDuplicateKey(() =>
          collection.findOneAndUpdate({ _id: refId }, described({ id: refId, ...ref }, clock.now()), {
            upsert: true,
            returnDocument: 'after',
          }),
        ),
      );
      if (document === null) throw new Error('An upsert returned no document');
      return toRef(document);
    },

    /** Described refs by words of their labels. See `findNames`. */
    search: (query: NameQuery): Promise<NamePosition[]> => findNames(collection, query),

    async findByIds(ids: readonly RefId[]): Promise<Ref[]> {
      const documents = await inOneBatch(
        collection.find({ _id: { $in: [...ids] } }).project<PlainRef>(WITHOUT_DETAILS),
        ids.length,
      );
      return documents.map(toRef);
    },

    /** Names and types of refs, without the fields that change when they are followed. */
    async namesOf(ids: readonly RefId[]): Promise<RefName[]> {
      const documents = await inOneBatch(
        collection
          .find({ _id: { $in: [...ids] } })
          .project<Pick<RefDocument, '_id' | 'type' | 'label'>>({ type: 1, label: 1 }),
        ids.length,
      );
      return documents.map(({ _id, type, label }) => ({
        refId: _id,
        type: type ?? null,
        label: label ?? null,
      }));
    },

    /** Refs that are or were pulled, with the time since when; `null`: not any more. Index `pulled`. */
    async pulled(): Promise<Map<RefId, Date | null>> {
      const documents = await collection
        .find({ isPulled: { $exists: true } })
        .project<{ _id: string; pullSince?: Date }>({ pullSince: 1 })
        .toArray();
      return new Map(documents.map(({ _id, pullSince }) => [_id, pullSince ?? null]));
    },

    /**
     * Switches refs above the threshold to pull from `since` on, and refs no longer above it back to push. Two writes that
     * examine only such refs. Indexes `followers`, `pulled`.
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
