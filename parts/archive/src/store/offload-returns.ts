import type { Document, ObjectId } from 'mongodb';
import type { ActionId } from '../../../../src/domain/action.ts';
import type { ActionDocument } from '../../../../src/storage/documents/documents.ts';
import {
  isKeyed,
  notePublications,
  type Published,
} from '../../../../src/features/publish/store/publishing.ts';
import { isDuplicateKey, retryOnDuplicateKey } from '../../../../src/storage/database/errors.ts';
import { uncarried } from '../../../../src/storage/stamps/directory-stamps.ts';
import { passRequested } from '../../../../src/storage/stages/fan-out-stages.ts';
import { MIGRATIONS } from '../../../../src/storage/migrations/migration.ts';
import type { Collections } from '../../../../src/storage/database/mongo.ts';
import type { offloadRecords, OffloadRecord, PinRecord } from './offload-records.ts';
import type { MarkedReader } from '../../../../src/storage/documents/declaration.ts';
import { newRevision, revised } from '../../../../src/storage/stages/revision.ts';

const BATCH = 500;

type StoredDocument = Readonly<Record<string, unknown>>;

/** Restores offloaded actions; see `offloads.ts`. */
export function offloadReturns(collections: Collections, { withActions }: ReturnType<typeof offloadRecords>) {
  const { actions, publications, refs } = collections;

  /** Replaces this file's tombstone, or inserts. Any other existing document stays. */
  async function bring(offloadId: string, document: ActionDocument): Promise<void> {
    const { _id, fanOut } = document;
    const tombstone = await actions.findOne({ _id }, { projection: { offload: 1, 'fanOut.version': 1 } });
    const isOwn = tombstone?.offload?.id === offloadId && tombstone.offload.stage === 'OUT';
    if (tombstone !== null && !isOwn) return;
    const withheld: ActionDocument = {
      ...asOfNowhere(document),
      // A new revision: processes may have cached the action as it was after the file was written.
      rev: newRevision(),
      isDeleted: true,
      offload: { id: offloadId, stage: 'RETURNING' },
      fanOut: { ...fanOut, version: Math.max(fanOut.version, tombstone?.fanOut.version ?? 0) },
    };
    const filter = tombstone === null ? { _id, rev: withheld.rev } : { _id, 'offload.stage': 'OUT' };
    try {
      await actions.replaceOne(filter, withheld, { upsert: tombstone === null });
    } catch (error) {
      // Another process inserted the same document first.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  return {
    /**
     * Restores actions, still invisible. Actions that exist, or were offloaded again to another file, stay as they are.
     * @returns the actions being restored, including those of an interrupted attempt.
     */
    async bringActions(offloadId: string, documents: readonly StoredDocument[]): Promise<Set<ActionId>> {
      await Promise.all(documents.map((document) => bring(offloadId, document as unknown as ActionDocument)));
      const returning = await actions
        .find({
          _id: { $in: documents.map((document) => document['_id'] as ObjectId) },
          'offload.id': offloadId,
          'offload.stage': 'RETURNING',
        })
        .project<Published>({
          actorId: 1,
          idempotencyKey: 1,
        })
        .toArray();
      await notePublications(publications, returning.filter(isKeyed), '$setOnInsert');
      return new Set(returning.map(({ _id }) => _id.toHexString()));
    },

    /** Restores the documents belonging to them. Idempotent. @returns the readers whose marks these are */
    async bringBelongings(records: readonly OffloadRecord[], maxPinned: number): Promise<MarkedReader[]> {
      for (const { collection } of withActions) {
        const documents = of(collection, records);
        if (documents.length === 0) continue;
        await refs.db.collection<{ _id: string }>(collection).bulkWrite(
          documents.map((document) => ({
            replaceOne: { filter: keyOf(document), replacement: document, upsert: true },
          })),
          { ordered: false },
        );
      }
      await bringPins(
        records.flatMap(({ section, document }) => (section === 'pins' ? [document as PinRecord] : [])),
        maxPinned,
      );
      return withActions.flatMap(({ collection, marks }) =>
        marks === undefined ? [] : of(collection, records).map((document) => marks(document)),
      );
    },

    /** Applies the migrations since an older version to the restored documents. */
    async bringUp(version: number): Promise<void> {
      for (const migration of MIGRATIONS.filter((later) => later.version > version)) {
        let after: string | null = null;
        do ({ after } = await migration.batch(collections, after, BATCH));
        while (after !== null);
      }
    },

    /** Makes completely restored actions visible and requests their delivery. */
    async showReturned(offloadId: string, limit: number, now: Date): Promise<number> {
      const found = await actions
        .find({ 'offload.id': offloadId, 'offload.stage': 'RETURNING' })
        .project<{ _id: ObjectId }>({ _id: 1 })
        .limit(limit)
        .toArray();
      if (found.length > 0)
        await actions.updateMany(
          { _id: { $in: found.map(({ _id }) => _id) }, 'offload.stage': 'RETURNING' },
          revised([
            { $set: { isDeleted: false, ...passRequested({ notBefore: now, lane: 'BULK' }) } },
            { $unset: ['offload'] },
          ]),
        );
      return found.length;
    },
  };

  /** Adds pins below the current ones, as far as there is room. */
  async function bringPins(pins: readonly PinRecord[], max: number): Promise<void> {
    const pinned = { $ifNull: ['$pinned', []] };
    for (const { refId, actionId } of pins) {
      const isToStay = { $or: [{ $in: [actionId, pinned] }, { $gte: [{ $size: pinned }, max] }] };
      // Another database may not know the ref yet.
      await retryOnDuplicateKey(() =>
        refs.updateOne(
          { _id: refId },
          [
            {
              $set: {
                pinned: { $cond: [isToStay, pinned, { $concatArrays: [pinned, [actionId]] }] },
                version: { $ifNull: ['$version', 0] },
                followerCount: { $ifNull: ['$followerCount', 0] },
              },
            },
          ],
          { upsert: true },
        ),
      );
    }
  }
}

/**
 * The action without what only the database from which it was taken knows: the versions of the names it copies, and which of
 * its refs have too many followers to push to.
 */
function asOfNowhere({ names, pullRefIds, undecidedRefIds, ...document }: ActionDocument): ActionDocument {
  const undecided = [...new Set([...(undecidedRefIds ?? []), ...(pullRefIds ?? [])])];
  return {
    ...document,
    ...(names === undefined ? {} : { names: uncarried(names) }),
    ...(undecided.length === 0 ? {} : { undecidedRefIds: undecided }),
  };
}

/** Key that reaches a document on its shard: interactions are sharded by their action. */
function keyOf({ _id, actionId }: StoredDocument): { readonly _id: string } {
  // The collections' types differ, but a filter by id is the same for all of them.
  return (actionId === undefined ? { _id } : { _id, actionId }) as { readonly _id: string };
}

function of(wanted: string, records: readonly OffloadRecord[]): Document[] {
  return records.flatMap(({ section, document }) => (section === wanted ? [document] : []));
}
