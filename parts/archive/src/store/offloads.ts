import { upTo } from '../../../../src/storage/database/batches.ts';
import type { Core } from '../../../../src/core/core.ts';
import { ObjectId, type Filter } from 'mongodb';
import type { ActionId } from '../../../../src/domain/action.ts';
import type { ActionDocument, OffloadStage } from '../../../../src/storage/documents/documents.ts';
import { passRequested } from '../../../../src/storage/stages/fan-out-stages.ts';
import type { Collections } from '../../../../src/storage/database/mongo.ts';
import type { Declaration } from '../../../../src/storage/documents/declaration.ts';
import { belongingTo } from '../../../../src/storage/belongings.ts';
import { offloadRecords, OffloadSum, type OffloadRecord, type Referring } from './offload-records.ts';
import { offloadReturns } from './offload-returns.ts';
import { revised } from '../../../../src/storage/stages/revision.ts';

export interface OffloadedAction {
  readonly id: ActionId;
  readonly rev: number;
}

export interface OffloadBatch {
  readonly records: AsyncIterable<readonly OffloadRecord[]>;
  readonly last: ActionId;
}

/** The action has no unmoved events or log entries, which an offload would lose. */
const IS_SETTLED: Filter<ActionDocument> = {
  isDeleted: false,
  'fanOut.state': 'DONE',
  // Moving events leaves an empty list.
  'unsent.0': { $exists: false },
  'unlogged.0': { $exists: false },
  offload: { $exists: false },
};

const IS_UNSETTLED = [
  { settling: { $exists: true } },
  { 'unsent.0': { $exists: true } },
  { 'unlogged.0': { $exists: true } },
];

/**
 * Offloads actions to a file and restores them. An offloaded action is deleted for everybody from the first write on, and is
 * withdrawn from feeds like any deleted one; actions with an idempotency key leave a tombstone.
 */
export function offloadsRepository(collections: Collections, declarations: readonly Declaration[]) {
  const { actions, interactions } = collections;
  const known = offloadRecords(declarations);
  const ofStage = (offloadId: string, stage: OffloadStage): Filter<ActionDocument> => ({
    'offload.id': offloadId,
    'offload.stage': stage,
  });

  return {
    known,
    ...offloadReturns(collections, known),

    /**
     * The next actions that have been inactive since a time, with everything that belongs to them; `null`: no more. In order
     * of id, so that the collection is scanned once.
     */
    async readBatch(
      { before, after }: { readonly before: Date; readonly after: ActionId | null },
      limit: number,
    ): Promise<OffloadBatch | null> {
      const found = await actions
        .find(
          {
            ...IS_SETTLED,
            ...(after === null ? {} : { _id: { $gt: new ObjectId(after) } }),
            latest: { $lt: before },
          },
          upTo(limit),
        )
        .sort({ _id: 1 })
        .toArray();
      const last = found.at(-1);
      if (last === undefined) return null;
      async function* records(): AsyncGenerator<readonly OffloadRecord[]> {
        yield found.map((document) => ({
          section: 'actions',
          actionId: document._id.toHexString(),
          document,
        }));
        yield* known.belongingsOf(collections, found);
      }
      return { records: records(), last: last._id.toHexString() };
    },

    /** Makes actions invisible, unless they changed since they were written to the file. */
    async claim(offloadId: string, written: readonly OffloadedAction[]): Promise<void> {
      if (written.length === 0) return;
      await actions.bulkWrite(
        written.map(({ id, rev }) => ({
          updateOne: {
            filter: { ...IS_SETTLED, _id: new ObjectId(id), rev },
            update: revised({ $set: { isDeleted: true, offload: { id: offloadId, stage: 'CLAIMED' } } }),
          },
        })),
        { ordered: false },
      );
    },

    /** Claimed ones of these actions, each with the current checksum of its documents; `null`: it is being changed. */
    async sums(offloadId: string, ids: readonly ActionId[]): Promise<Map<ActionId, string | null>> {
      const claimed = await actions
        .find({ _id: { $in: ids.map((id) => new ObjectId(id)) }, ...ofStage(offloadId, 'CLAIMED') })
        .project<Referring>({ refIds: 1 })
        .toArray();
      if (claimed.length === 0) return new Map();
      const sums = new Map(claimed.map(({ _id }) => [_id.toHexString(), new OffloadSum()]));
      for await (const some of known.belongingsOf(collections, claimed))
        for (const record of some) sums.get(record.actionId)?.add(record);
      const unsettled = await interactions
        .find({ actionId: { $in: claimed.map(({ _id }) => _id) }, $or: IS_UNSETTLED })
        .project<{ actionId: ObjectId }>({ _id: 0, actionId: 1 })
        .toArray();
      const isUnsettled = new Set(unsettled.map(({ actionId }) => actionId.toHexString()));
      return new Map(Array.from(sums, ([id, sum]) => [id, isUnsettled.has(id) ? null : sum.value]));
    },

    /** Makes claimed actions visible again; their feeds have not been touched. */
    async giveBack(offloadId: string, ids: readonly ActionId[]): Promise<void> {
      await actions.updateMany(
        { _id: { $in: ids.map((id) => new ObjectId(id)) }, ...ofStage(offloadId, 'CLAIMED') },
        revised({ $set: { isDeleted: false }, $unset: { offload: 1 } }),
      );
    },

    /** Lets fan-out passes withdraw claimed actions from all feeds and remove everything that belongs to them. */
    async withdraw(offloadId: string, ids: readonly ActionId[], now: Date): Promise<void> {
      await actions.updateMany(
        { _id: { $in: ids.map((id) => new ObjectId(id)) }, ...ofStage(offloadId, 'CLAIMED') },
        revised([
          {
            $set: {
              offload: { id: offloadId, stage: 'LEAVING' },
              expiresAt: '$$REMOVE',
              // Watchers already know about a hidden action.
              'fanOut.unnotifiedVersion': {
                $cond: ['$isHidden', '$$REMOVE', { $add: ['$fanOut.version', 1] }],
              },
              ...passRequested({ notBefore: now, lane: 'BULK' }),
            },
          },
        ]),
      );
    },

    /**
     * How far earlier runs of this offload got with these actions. `moved`: only a tombstone is left, or nothing. Actions that
     * it has let go, or never took, are in neither number.
     */
    async fates(
      offloadId: string,
      ids: readonly ActionId[],
    ): Promise<{ readonly leaving: number; readonly moved: number }> {
      if (ids.length === 0) return { leaving: 0, moved: 0 };
      const found = await actions
        .find({ _id: { $in: ids.map((id) => new ObjectId(id)) } })
        .project<{ offload?: { id: string; stage: OffloadStage } }>({ _id: 0, offload: 1 })
        .toArray();
      const inStage = (stage: OffloadStage): number =>
        found.filter(({ offload }) => offload?.id === offloadId && offload.stage === stage).length;
      return { leaving: inStage('LEAVING'), moved: ids.length - found.length + inStage('OUT') };
    },

    /** Number of actions being withdrawn, and of failed withdrawals. Index `offload`. */
    async leaving(offloadId: string): Promise<{ readonly open: number; readonly failed: number }> {
      const ofOffload = ofStage(offloadId, 'LEAVING');
      const [open, failed] = await Promise.all([
        actions.countDocuments({ ...ofOffload, 'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS'] } }),
        actions.countDocuments({ ...ofOffload, 'fanOut.state': 'FAILED' }),
      ]);
      return { open, failed };
    },

    /**
     * Removes the remains of withdrawn actions; returns 0 when there are none. The action goes last, so that an interrupted
     * call finds it again. An action with an idempotency key leaves its tombstone, otherwise a repeated publication would
     * record it again.
     */
    async purge(offloadId: string, limit: number): Promise<number> {
      const found = await actions
        .find({ ...ofStage(offloadId, 'LEAVING'), 'fanOut.state': 'DONE' })
        .project<{ _id: ObjectId }>({ _id: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      const removed = found.map(({ _id }) => _id);
      const ids = { $in: removed };
      // The rest that the passes have left, such as the log.
      for (const belongings of known.withActions)
        if (typeof belongings.purge === 'object')
          await actions.db.collection(belongings.collection).deleteMany(belongingTo(belongings, removed));
      const leaving = { _id: ids, ...ofStage(offloadId, 'LEAVING') };
      await actions.updateMany(
        { ...leaving, idempotencyKey: { $exists: true } },
        revised({ $set: { offload: { id: offloadId, stage: 'OUT' } } }),
      );
      await actions.deleteMany({ ...leaving, idempotencyKey: { $exists: false } });
      return found.length;
    },

    /**
     * Number of actions that are neither visible nor completely offloaded, because the offload was interrupted. Index
     * `offload`.
     */
    countUnfinished(offloadId: string): Promise<number> {
      return actions.countDocuments({
        'offload.id': offloadId,
        'offload.stage': { $in: ['CLAIMED', 'LEAVING'] },
      });
    },
  };
}

/** Unfinished offloads and restores with their number of actions. Index `offload`. */
export async function underWay({
  actions,
}: Collections): Promise<{ readonly id: string; readonly isReturning: boolean; readonly actions: number }[]> {
  const found = await actions
    .aggregate<{
      readonly _id: { readonly id: string; readonly isReturning: boolean };
      readonly actions: number;
    }>([
      {
        $match: {
          'offload.id': { $exists: true, $gt: '' },
          'offload.stage': { $in: ['CLAIMED', 'LEAVING', 'RETURNING'] satisfies OffloadStage[] },
        },
      },
      {
        $group: {
          _id: { id: '$offload.id', isReturning: { $eq: ['$offload.stage', 'RETURNING'] } },
          actions: { $sum: 1 },
        },
      },
      { $sort: { _id: 1 } },
    ])
    .toArray();
  return found.map(({ _id, actions: count }) => ({ ..._id, actions: count }));
}

/** The core of offloads: takes the place of the first argument of its use cases. */
export interface Archive extends Core {
  readonly offloads: ReturnType<typeof offloadsRepository>;
}

export function archiveOf(core: Core): Archive {
  return { ...core, offloads: offloadsRepository(core.collections, core.declarations) };
}
