import type { Collection } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';
import type { EndedSnoozes } from '../../domain/viewer.ts';
import { retryOnDuplicateKey } from '../database/errors.ts';
import { readerActionId, type ReaderAction } from '../documents/reader-action-id.ts';
import type { ItemMarkDocument } from '../documents/reader-documents.ts';
import { inOneBatch } from '../database/in-one-batch.ts';

/** Most items of one reader that are snoozed at a time. Two at once may exceed it by one. */
export const MAX_SNOOZED = 500;
/** Of the snoozes of one reader that have ended so many still lift their items: those that ended last. */
export const MAX_LIFTED = 500;
/** An end that another process recorded is known here although its clock was ahead by so much. */
const SKEW_MS = 60_000;

/** What belongs to a snooze alone. */
export const NO_SNOOZE = { until: 1, isOver: 1, due: 1, claim: 1 } as const;

/** A snooze whose end watchers are to be notified of. */
export interface EndedSnooze extends ReaderAction {
  readonly until: Date;
}

/** Marks of items whose state is SNOOZED. `$exists` names the condition of the partial indexes. */
export function snoozesRepository(collection: Collection<ItemMarkDocument>) {
  return {
    /** In place of the state it had. Of one that is snoozed already the time is replaced. */
    async set(userId: UserId, actionId: ActionId, until: Date, at: Date): Promise<void> {
      await retryOnDuplicateKey(() =>
        collection.updateOne(
          { _id: readerActionId(userId, actionId) },
          { $set: { state: 'SNOOZED', at, until, due: until }, $unset: { isOver: 1, claim: 1 } },
          { upsert: true },
        ),
      );
    },

    /** Puts an item back. One that has come back already keeps its place. */
    async clear(userId: UserId, actionId: ActionId, now: Date): Promise<void> {
      await collection.updateOne(
        { _id: readerActionId(userId, actionId), until: { $gt: now }, isOver: { $exists: false } },
        { $unset: { state: 1, at: 1, ...NO_SNOOZE } },
      );
    },

    /** The reader's items that are snoozed then. Index `snoozes`. */
    async active(userId: UserId, now: Date): Promise<ActionId[]> {
      const documents = await collection
        .find({ '_id.userId': userId, until: { $exists: true, $gt: now } })
        .project<Pick<ItemMarkDocument, '_id'>>({ _id: 1 })
        .limit(2 * MAX_SNOOZED)
        .batchSize(2 * MAX_SNOOZED)
        .toArray();
      return documents.map(({ _id }) => _id.actionId.toHexString());
    },

    /** How many are, counted up to a limit. Index `snoozes`. */
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

    /** Forgets those that have ended and lift nothing any more, a few at a time. Index `snoozes`. */
    async forgetOld(userId: UserId, now: Date): Promise<void> {
      const old = await collection
        .find({ '_id.userId': userId, until: { $exists: true, $lte: now }, due: { $exists: false } })
        .sort({ until: -1 })
        .skip(MAX_LIFTED)
        .project<Pick<ItemMarkDocument, '_id'>>({ _id: 1 })
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
     * Records the end of snoozes whose time has come, and gives those that are for this claim to tell of: each is given to
     * one at a time, and again once the lease has passed. Index `snoozes_due`.
     * @param claim of this call alone.
     */
    async claimEnded(claim: string, now: Date, leaseMs: number, limit: number): Promise<EndedSnooze[]> {
      const due = await collection
        .find({ due: { $exists: true, $lte: now } })
        .sort({ due: 1 })
        .project<Pick<ItemMarkDocument, '_id'>>({ _id: 1 })
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
          .project<Pick<ItemMarkDocument, '_id' | 'until'>>({ until: 1 }),
        limit,
      );
      return claimed.flatMap(({ _id, until }) =>
        until === undefined ? [] : [{ userId: _id.userId, actionId: _id.actionId.toHexString(), until }],
      );
    },

    /** Watchers have been notified of these. What has been snoozed again since is left as it is. */
    async finishEnded(claim: string, notified: readonly ReaderAction[]): Promise<void> {
      await collection.updateMany(
        { _id: { $in: notified.map(({ userId, actionId }) => readerActionId(userId, actionId)) }, claim },
        { $unset: { due: 1, claim: 1 } },
      );
    },
  };
}

export type SnoozesRepository = ReturnType<typeof snoozesRepository>;
