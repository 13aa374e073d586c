import type { ObjectId } from 'mongodb';
import type { ActionId } from '../../domain/action.ts';
import type { ActionDocument } from '../documents/documents.ts';
import { isDuplicateKey } from '../database/errors.ts';
import { passRequested } from '../stages/fan-out-stages.ts';
import { MIGRATIONS } from '../migrations/registry.ts';
import type { Collections } from '../database/mongo.ts';
import type { OffloadRecord, PinRecord } from './offload-records.ts';
import type { ItemMarkDocument } from '../documents/reader-documents.ts';
import { newRevision, revised } from '../stages/revision.ts';

const BATCH = 500;

type StoredDocument = Readonly<Record<string, unknown>>;

/** What is to be known of readers whose marks come back. */
export interface ReturnedMarks {
  readonly userId: string;
  readonly hasUnreadMarks?: true;
  readonly hasSnoozes?: true;
}

/** The way back of what was taken out; see `offloads.ts`. */
export function offloadReturns(collections: Collections) {
  const { actions, refs } = collections;

  /** In place of the tombstone of this file, or where there is nothing. What is there otherwise stays as it is. */
  async function bring(offloadId: string, document: ActionDocument): Promise<void> {
    const { _id, fanOut } = document;
    const tombstone = await actions.findOne({ _id }, { projection: { offload: 1, 'fanOut.version': 1 } });
    const isOwn = tombstone?.offload?.id === offloadId && tombstone.offload.stage === 'OUT';
    if (tombstone !== null && !isOwn) return;
    const withheld: ActionDocument = {
      ...document,
      // Not the one it had: what a process has of it may be older than the file.
      rev: newRevision(),
      isDeleted: true,
      offload: { id: offloadId, stage: 'RETURNING' },
      fanOut: { ...fanOut, version: Math.max(fanOut.version, tombstone?.fanOut.version ?? 0) },
    };
    const filter = tombstone === null ? { _id, rev: withheld.rev ?? 0 } : { _id, 'offload.stage': 'OUT' };
    try {
      await actions.replaceOne(filter, withheld, { upsert: tombstone === null });
    } catch (error) {
      // Another process was faster: it brings the same.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  return {
    /**
     * Brings actions back, for nobody to see yet. Those that are there already, or were taken out again by another file,
     * stay as they are. @returns those that are on their way back, also from an attempt that was cut off.
     */
    async bringActions(offloadId: string, documents: readonly StoredDocument[]): Promise<Set<ActionId>> {
      await Promise.all(documents.map((document) => bring(offloadId, document as unknown as ActionDocument)));
      const returning = await actions
        .find({
          _id: { $in: documents.map((document) => document['_id'] as ObjectId) },
          'offload.id': offloadId,
          'offload.stage': 'RETURNING',
        })
        .project<{ _id: ObjectId }>({ _id: 1 })
        .toArray();
      return new Set(returning.map(({ _id }) => _id.toHexString()));
    },

    /** Brings back what belongs to them. Again, it changes nothing. @returns whose marks these are */
    async bringBelongings(records: readonly OffloadRecord[], maxPinned: number): Promise<ReturnedMarks[]> {
      const { interactions, itemMarks, bookmarks, moderationLog } = collections;
      const bySection = { interactions, itemMarks, bookmarks, moderationLog };
      for (const [section, collection] of Object.entries(bySection)) {
        const documents = records
          .filter((record) => record.section === section)
          .map(({ document }) => document);
        if (documents.length === 0) continue;
        const target = collection as unknown as Pick<Collections['refs'], 'bulkWrite'>;
        await target.bulkWrite(
          documents.map((document) => ({
            replaceOne: {
              filter: keyOf(document),
              replacement: document as { version: number; followerCount: number },
              upsert: true,
            },
          })),
          { ordered: false },
        );
      }
      await bringPins(
        records.flatMap(({ section, document }) => (section === 'pins' ? [document as PinRecord] : [])),
        maxPinned,
      );
      return records.flatMap(({ section, document }) => {
        if (section !== 'itemMarks') return [];
        const { _id, isUnread, until } = document as ItemMarkDocument;
        return [
          {
            userId: _id.userId,
            ...(isUnread === true ? { hasUnreadMarks: true as const } : {}),
            ...(until === undefined ? {} : { hasSnoozes: true as const }),
          },
        ];
      });
    },

    /** Brings documents of an older shape into that of now, as the migrations since would have. */
    async bringUp(version: number): Promise<void> {
      for (const migration of MIGRATIONS.filter((later) => later.version > version)) {
        let after: string | null = null;
        do ({ after } = await migration.batch(collections, after, BATCH));
        while (after !== null);
      }
    },

    /** Shows actions that have come back with all that belongs to them, and has them delivered. */
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

  /** Below what is pinned by now, as far as there is room. */
  async function bringPins(pins: readonly PinRecord[], max: number): Promise<void> {
    for (const { refId, actionId } of pins)
      await refs.updateOne(
        { _id: refId, pinned: { $ne: actionId }, [`pinned.${String(max - 1)}`]: { $exists: false } },
        { $push: { pinned: actionId } },
      );
  }
}

/** By what a document is found on its shard: interactions lie with their action. */
function keyOf({ _id, actionId }: StoredDocument): { readonly _id: string } {
  // The types of the collections differ; a filter of ids is the same for all of them.
  return (actionId === undefined ? { _id } : { _id, actionId }) as { readonly _id: string };
}
