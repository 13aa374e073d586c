import { upTo } from '../../../storage/database/batches.ts';
import { idsBeside } from '../../../domain/stored-id.ts';
import type { UserId } from '../../../domain/action.ts';
import type { Collection, Document, Filter } from 'mongodb';
import type { RefId } from '../../../domain/action.ts';
import { namePathsOf } from '../../../descriptors/names.ts';
import { type Claiming, type Failure, type Held, leased, leaseDue } from '../../../storage/database/lease.ts';
import type { NamedDocument } from '../../../storage/documents/directory-documents.ts';
import type { ActionDocument } from '../../../storage/documents/documents.ts';
import { type Collections } from '../../../storage/database/mongo.ts';
import {
  holdsName,
  holdsOlderName,
  idOfStamp,
  nameStamp,
  restamped,
  UNCARRIED,
  type DirectoryStampsRepository,
} from '../../../storage/stamps/directory-stamps.ts';
import { revised, literal } from '../../../storage/stages/revision.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly renames: ReturnType<typeof renamesRepository>;
  }
}

/** Collections that define names: refs by their labels, members by their names. */
export const NAME_SOURCES = ['refs', 'members'] as const;
export type NameSource = (typeof NAME_SOURCES)[number];

/** A worker's claim on one new name, valid until the lease ends. */
export interface RenameClaim extends Held<RefId> {
  readonly source: NameSource;
  /** Version of the source document when it was claimed. */
  readonly version: number;
  readonly attempts: number;
}

/** An id's name, and its version among all names of that id. */
export interface VersionedName {
  readonly name: string;
  readonly version: number;
}

export interface NameTraces {
  readonly isFollowed: boolean;
  readonly isMember: boolean;
  /** At least one action copies its name. */
  readonly isHeld: boolean;
  /** Type of the thing, from an action that refers to it; `null`: none does. */
  readonly type: string | null;
}

/** Upper bound on copies that may be found for names settled together. */
const SETTLE_LIMIT = 1_000;
const FIRST_VERSION = 1;

/** Names that are still to be copied into actions. */
export const isRenameDue = (now: Date): Filter<NamedDocument> => leaseDue('rename', now);

/** A new name between its commit in `refs` or `members` and the update of its last copy in `actions`. */
export function renamesRepository(collections: Collections, directoryStamps: DirectoryStampsRepository) {
  const { actions, refs, members } = collections;
  const sourceOf = (source: NameSource): Collection<NamedDocument> =>
    // Both collections contain named documents; the driver's types are invariant.
    (source === 'refs' ? refs : members) as unknown as Collection<NamedDocument>;
  const leasesOf = (source: NameSource) => leased(sourceOf(source), 'rename');

  return {
    /** Claims the name that has been due longest, or one with an expired lease. Index `rename`. */
    async claim(claiming: Claiming): Promise<RenameClaim | null> {
      for (const source of NAME_SOURCES) {
        const found = await leasesOf(source).claim(claiming);
        if (found === null) continue;
        const { _id: id, version = 0, rename } = found.document;
        return { source, id, token: claiming.token, version, attempts: rename?.attempts ?? 1 };
      }
      return null;
    },

    /** Extends the lease. `false`: the claim is void. */
    renew: (claim: RenameClaim, until: Date) => leasesOf(claim.source).renew(claim, until),

    /** Marks the version as copied. `false`: the claim is void, or the name changed meanwhile. */
    async finish(claim: RenameClaim): Promise<boolean> {
      // Stamps again, in case the process that changed the name died before it could.
      const result = await directoryStamps.stamping([claim.id], () =>
        sourceOf(claim.source).updateOne(
          { ...leasesOf(claim.source).held(claim), version: claim.version },
          { $set: { propagated: claim.version }, $unset: { rename: 1 } },
        ),
      );
      return result.matchedCount === 1;
    },

    /** The name is due again from then on, for a reason or in order. Does nothing when the claim is void. */
    release: (claim: RenameClaim, from: Date, failure?: Failure) =>
      leasesOf(claim.source).release(claim, from, failure),

    /** Requests renames for copies with these stamps that are older than the current names. */
    async carryAgain(stamps: readonly string[], now: Date): Promise<void> {
      const ids = [...new Set(stamps.map(idOfStamp))];
      if (ids.length === 0) return;
      const versions = new Map<RefId, number>();
      for (const source of NAME_SOURCES) {
        const named = await sourceOf(source)
          .find({ _id: { $in: ids }, version: { $gte: FIRST_VERSION } })
          .project<{ _id: string; version?: number }>({ version: 1 })
          .toArray();
        for (const { _id, version = 0 } of named) versions.set(_id, (versions.get(_id) ?? 0) + version);
      }
      const older = stamps.filter(
        (stamp) => stamp < nameStamp(idOfStamp(stamp), versions.get(idOfStamp(stamp)) ?? 0),
      );
      const due = { _id: { $in: [...new Set(older.map(idOfStamp))] }, rename: { $exists: false } };
      if (older.length > 0)
        for (const source of NAME_SOURCES)
          await sourceOf(source).updateMany(
            { ...due, version: { $gte: FIRST_VERSION } },
            { $set: { rename: { due: now, attempts: 0 } } },
          );
    },

    /**
     * An id's name: the label of the ref, else the name of the member; `null` when it has neither. The version is the sum of
     * both versions, so that it rises with either. A name read between two changes has a lower version than the final one.
     */
    async current(id: RefId): Promise<VersionedName | null> {
      const [ref, member] = await Promise.all([refs.findOne({ _id: id }), members.findOne({ _id: id })]);
      const name = ref?.label ?? member?.name;
      return name === undefined ? null : { name, version: (ref?.version ?? 0) + (member?.version ?? 0) };
    },

    /**
     * Updates a name in at most `limit` actions with an older one, in all places that contain it. Never replaces a newer
     * one, so a late worker does no harm. Returns the number found: 0 when none is left.
     *
     * Before its first rename only published copies exist: those that already equal the name are not written.
     */
    async carry(id: RefId, { name, version }: VersionedName, limit: number): Promise<number> {
      const older = {
        ...holdsOlderName(id, version),
        ...(version === FIRST_VERSION ? { $or: differsFrom(id, name) } : {}),
      } as Filter<ActionDocument>;
      const found = await actions
        .find(older, upTo(limit))
        .project<{ _id: ActionDocument['_id'] }>({ _id: 1 })
        .toArray();
      if (found.length > 0)
        await actions.updateMany(
          { ...older, _id: { $in: found.map(({ _id }) => _id) } },
          revised([{ $set: { ...withName(id, name), names: restamped(id, version) } }]),
        );
      return found.length;
    },

    /**
     * Completes first names that no action copies, in four round trips for up to `limit` of them: the usual case while a
     * directory is being filled. Returns their number. Doubtful ones are left to be claimed individually.
     */
    async settleFirst(source: NameSource, now: Date, limit: number): Promise<number> {
      const due = await sourceOf(source)
        .find({ ...isRenameDue(now), version: FIRST_VERSION }, upTo(limit))
        .toArray();
      if (due.length === 0) return 0;
      const ids = due.map(({ _id }) => _id);
      const other = sourceOf(source === 'refs' ? 'members' : 'refs');
      const [known, holders] = await Promise.all([
        other.find({ _id: { $in: ids }, version: { $gte: FIRST_VERSION } }).toArray(),
        actions
          .find({ names: { $in: ids.map((id) => nameStamp(id, UNCARRIED)) } }, upTo(SETTLE_LIMIT))
          .project<{ names?: string[] }>({ names: 1 })
          .toArray(),
      ]);
      if (holders.length === SETTLE_LIMIT) return 0;
      const open = new Set(known.map(({ _id }) => _id));
      for (const { names } of holders) for (const stamp of names ?? []) open.add(idOfStamp(stamp));
      const writes = due
        .filter(({ _id }) => !open.has(_id))
        .map(({ _id, rename }) => ({
          updateOne: {
            filter: { _id, version: FIRST_VERSION, 'rename.due': rename?.due ?? now },
            update: { $set: { propagated: FIRST_VERSION }, $unset: { rename: 1 as const } },
          },
        }));
      if (writes.length > 0) await sourceOf(source).bulkWrite(writes, { ordered: false });
      return writes.length;
    },

    /** Number of names due or being updated, beside an id or of all. Index `rename`. */
    async countDue(beside: UserId | null = null): Promise<number> {
      const counts = await Promise.all(
        NAME_SOURCES.map((source) =>
          sourceOf(source).countDocuments({ ...idsBeside(beside), 'rename.due': { $exists: true } }),
        ),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },

    /** Facts from actions about an id that is not a described ref. Index `names`. */
    async traces(id: RefId): Promise<NameTraces> {
      const holds = holdsName(id) as Filter<ActionDocument>;
      const [followed, member, holder, referrer] = await Promise.all([
        refs.findOne({ _id: id }),
        members.findOne({ _id: id }),
        actions.findOne(holds),
        actions.findOne({ ...holds, 'refs.id': id }),
      ]);
      return {
        isFollowed: followed !== null,
        isMember: member !== null,
        isHeld: holder !== null,
        type: referrer?.refs.find((ref) => ref.id === id)?.type ?? null,
      };
    },
  };
}

/** Filters for actions that contain a different name. */
function differsFrom(id: RefId, name: string): Document[] {
  return [
    { refs: { $elemMatch: { id, label: { $ne: name } } } },
    ...namePathsOf().map(({ idField, nameField, types }) => ({
      'descriptor.type': { $in: types },
      [`descriptor.${idField}`]: id,
      [`descriptor.${nameField}`]: { $ne: name },
    })),
  ];
}

/** Expressions that replace the name in the parts of an action that contain it. */
function withName(id: RefId, name: string): Document {
  const it = literal(id);
  const value = literal(name);
  const inDescriptor = namePathsOf().map(({ idField, nameField, types }) => ({
    $cond: [
      { $and: [{ $in: ['$descriptor.type', [...types]] }, { $eq: [`$descriptor.${idField}`, it] }] },
      { [nameField]: value },
      {},
    ],
  }));
  const relabelled = { $mergeObjects: ['$$ref', { label: value }] };
  return {
    refs: {
      $map: { input: '$refs', as: 'ref', in: { $cond: [{ $eq: ['$$ref.id', it] }, relabelled, '$$ref'] } },
    },
    descriptor: { $mergeObjects: ['$descriptor', ...inDescriptor] },
  };
}

export type RenamesRepository = ReturnType<typeof renamesRepository>;
