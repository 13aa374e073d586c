import { upTo } from '../../../storage/database/batches.ts';
import type { Collection, Filter } from 'mongodb';
import type { ActionId, UserId } from '../../../domain/action.ts';
import type { EndedSnoozes } from '../../../domain/viewer.ts';
import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import { readerActionId, type ReaderAction } from '../../../storage/documents/reader-action-id.ts';
import type { ItemMarkDocument } from '../../../storage/documents/reader-documents.ts';
import { type Claiming, leased, leaseDue } from '../../../storage/database/lease.ts';

/** Upper bound on a reader's active snoozes. Concurrent calls may exceed it by one. */
export const MAX_SNOOZED = 500;
/** Upper bound on a reader's ended snoozes that still boost their items; the latest ones count. */
export const MAX_LIFTED = 500;
/** Tolerated clock difference to a process that recorded an end. */
const SKEW_MS = 60_000;

/** Fields that only a snooze uses. */
export const NO_SNOOZE = { until: 1, isOver: 1, lifting: 1 } as const;

/** A snooze whose end must be announced to watchers. */
export interface EndedSnooze extends ReaderAction {
  readonly until: Date;
}

/** Items whose snooze has ended, unannounced or with an expired lease. */
export const isSnoozeOver = (now: Date): Filter<ItemMarkDocument> => leaseDue('lifting', now);

/** Marks with the state SNOOZED. `$exists` states the condition of the partial indexes. */
export function snoozesRepository(collection: Collection<ItemMarkDocument>) {
  const leases = leased(collection, 'lifting');

  return {
    /** Replaces the current state, or the end of an existing snooze. */
    async set(userId: UserId, actionId: ActionId, until: Date, at: Date): Promise<void> {
      await retryOnDuplicateKey(() =>
        collection.updateOne(
          { _id: readerActionId(userId, actionId) },
          { $set: { state: 'SNOOZED', at, until, lifting: { due: until } }, $unset: { isOver: 1 } },
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
        .find({ '_id.userId': userId, until: { $exists: true, $gt: now } }, upTo(2 * MAX_SNOOZED))
        .project<{ _id: ItemMarkDocument['_id'] }>({ _id: 1 })
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
        .find(
          { '_id.userId': userId, until: { $exists: true, $lte: new Date(now.getTime() + SKEW_MS) } },
          upTo(MAX_SNOOZED + MAX_LIFTED),
        )
        .sort({ until: -1 })
        .project<Pick<ItemMarkDocument, '_id' | 'until' | 'isOver'>>({ until: 1, isOver: 1 })
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
        .find(
          { '_id.userId': userId, until: { $exists: true, $lte: now }, lifting: { $exists: false } },
          upTo(MAX_SNOOZED),
        )
        .sort({ until: -1 })
        .skip(MAX_LIFTED)
        .project<{ _id: ItemMarkDocument['_id'] }>({ _id: 1 })
        .toArray();
      if (old.length === 0) return;
      await collection.updateMany(
        { _id: { $in: old.map(({ _id }) => _id) }, until: { $lte: now } },
        { $unset: { state: 1, at: 1, ...NO_SNOOZE } },
      );
    },

    /** Records the end of due snoozes, and returns those that this claim must announce. Index `snoozes_due`. */
    async claimEnded(claiming: Claiming, limit: number): Promise<EndedSnooze[]> {
      const claimed = await leases.claimSome(claiming, limit, { then: [{ $set: { isOver: true } }] });
      return claimed.flatMap(({ _id, until }) =>
        until === undefined ? [] : [{ userId: _id.userId, actionId: _id.actionId.toHexString(), until }],
      );
    },

    /** Records that watchers have been notified. Items snoozed again meanwhile stay unchanged. */
    finishEnded: (token: string, notified: readonly ReaderAction[]) =>
      leases.finishSome(
        token,
        notified.map(({ userId, actionId }) => readerActionId(userId, actionId)),
      ),
  };
}
