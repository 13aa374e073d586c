import type { Collection, Filter } from 'mongodb';
import type { ActionId, UserId } from '../../../domain/action.ts';
import type { EndedSnoozes } from '../../../domain/viewer.ts';
import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import { readerActionId, type ReaderAction } from '../../../storage/documents/reader-action-id.ts';
import type { ItemMarkDocument } from '../../../storage/documents/reader-documents.ts';
import { inOneBatch } from '../../../storage/database/in-one-batch.ts';

/** Upper bound on a reader's active snoozes. Concurrent calls may exceed it by one. */
export const MAX_SNOOZED = 500;
/** Upper bound on a reader's ended snoozes that still boost their items; the latest ones count. */
export const MAX_LIFTED = 500;
/** Tolerated clock difference to a process that recorded an end. */
const SKEW_MS = 60_000;

/** Fields that only a snooze uses. */
export const NO_SNOOZE = { until: 1, isOver: 1, due: 1, claim: 1 } as const;

/** A snooze whose end must be announced to watchers. */
export interface EndedSnooze extends ReaderAction {
  readonly until: Date;
}

/** Items whose snooze has ended, unannounced or with an expired lease. */
export const isSnoozeOver = (now: Date): Filter<ItemMarkDocument> => ({ due: { $exists: true, $lte: now } });

/** Marks with the state SNOOZED. `$exists` states the condition of the partial indexes. */
export function snoozesRepository(collection: Collection<ItemMarkDocument>) {
  return {
    /** Replaces the current state, or the end of an existing snooze. */
    async set(userId: UserId, actionId: ActionId, until: Date, at: Date): Promise<void> {
      await retryOnDuplicateKey(() =>
        collection.updateOne(
          { _id: readerActionId(userId, actionId) },
          { $set: { state: 'SNOOZED', at, until, due: until }, $unset: { isOver: 1, claim: 1 } },
          { upsert: true },
        ),
      );
    },

    /** Ends a snooze early. An item that is already back keeps its position. */
    async clear(userId: UserId, actionId: ActionId, now: Date): Promise<void> {
      await collection.updateOne(
        { _id: readerActionId(userId, actionId), until: { $gt: now }, isOver: { $exists: false } },
        { $unset: { state: 1, at: 1, ...NO_SNOOZE } },
      );
    },

    /** The reader's items snoozed at that time. Index `snoozes`. */
    async active(userId: UserId, now: Date): Promise<ActionId[]> {
      const documents = await collection
        .find({ '_id.userId': userId, until: { $exists: true, $gt: now } })
        .project<{ _id: ItemMarkDocument['_id'] }>({ _id: 1 })
        .limit(2 * MAX_SNOOZED)
        .batchSize(2 * MAX_SNOOZED)
        .toArray();
      return documents.map(({ _id }) => _id.actionId.toHexString());
    },

    /** Number of them, counted up to a limit. Index `snoozes`. */
    async countActive(userId: UserId, now: Date, limit: number): Promise<number> {
      return collection.countDocuments(
        { '_id.userId': userId, until: { $exists: true, $gt: now } },
        { limit },
      );
    },

    /** Index `snoozes`. */
    async ended(userId: UserId, now: Date): Promise<EndedSnoozes> {
      const documents = await collection
        .find({ '_id.userId': userId, until: { $exists: true, $lte: new Date(now.getTime() + SKEW_MS) } })
        .sort({ until: -1 })
        .project<Pick<ItemMarkDocument, '_id' | 'until' | 'isOver'>>({ until: 1, isOver: 1 })
        .limit(MAX_SNOOZED + MAX_LIFTED)
        .batchSize(MAX_SNOOZED + MAX_LIFTED)
        .toArray();
      const over = documents.flatMap(({ _id, until, isOver }) =>
        until !== undefined && (isOver === true || until.getTime() <= now.getTime())
          ? [[_id.actionId.toHexString(), until] as const]
          : [],
      );
      return new Map(over.slice(0, MAX_LIFTED));
    },

    /** Deletes a few ended snoozes that no longer boost anything. Index `snoozes`. */
    async forgetOld(userId: UserId, now: Date): Promise<void> {
      const old = await collection
        .find({ '_id.userId': userId, until: { $exists: true, $lte: now }, due: { $exists: false } })
        .sort({ until: -1 })
        .skip(MAX_LIFTED)
        .project<{ _id: ItemMarkDocument['_id'] }>({ _id: 1 })
        .limit(MAX_SNOOZED)
        .batchSize(MAX_SNOOZED)
        .toArray();
      if (old.length === 0) return;
      await collection.updateMany(
        { _id: { $in: old.map(({ _id }) => _id) }, until: { $lte: now } },
        { $unset: { state: 1, at: 1, ...NO_SNOOZE } },
      );
    },

    /**
     * Records the end of due snoozes, and returns those that this claim must announce. Each is given to one claim at a time,
     * and again after the lease has expired. Index `snoozes_due`.
     * @param claim unique to this call.
     */
    async claimEnded(claim: string, now: Date, leaseMs: number, limit: number): Promise<EndedSnooze[]> {
      const due = await collection
        .find(isSnoozeOver(now))
        .sort({ due: 1 })
        .project<{ _id: ItemMarkDocument['_id'] }>({ _id: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      if (due.length === 0) return [];
      const ids = due.map(({ _id }) => _id);
      await collection.updateMany(
        { _id: { $in: ids }, due: { $lte: now } },
        { $set: { claim, isOver: true, due: new Date(now.getTime() + leaseMs) } },
      );
      const claimed = await inOneBatch(
        collection
          .find({ _id: { $in: ids }, claim })
          .project<{ _id: ItemMarkDocument['_id']; until?: Date }>({ until: 1 }),
        limit,
      );
      return claimed.flatMap(({ _id, until }) =>
        until === undefined ? [] : [{ userId: _id.userId, actionId: _id.actionId.toHexString(), until }],
      );
    },

    /** Records that watchers have been notified. Items snoozed again meanwhile stay unchanged. */
    async finishEnded(claim: string, notified: readonly ReaderAction[]): Promise<void> {
      await collection.updateMany(
        { _id: { $in: notified.map(({ userId, actionId }) => readerActionId(userId, actionId)) }, claim },
        { $unset: { due: 1, claim: 1 } },
      );
    },
  };
}
