import { upTo } from '../../../storage/database/batches.ts';
import type { Collection, Filter } from 'mongodb';
import type { ActionId, UserId } from '../../../domain/action.ts';
import { ENDING_STATES, type ItemState, rowOf } from '../../../domain/item-states.ts';
import type { Returned } from '../../../domain/viewer.ts';
import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import { readerActionId, type ReaderAction } from '../../../storage/documents/reader-action-id.ts';
import type { ItemMarkDocument } from '../../../storage/documents/reader-documents.ts';
import { type Claiming, leased, leaseDue } from '../../../storage/database/lease.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly markEnds: ReturnType<typeof markEndsRepository>;
  }
}

/** Upper bound on items of a reader that came back and are still raised by that; the latest ones count. */
export const MAX_LIFTED = 500;
/** Upper bound on items of a reader that are away until a time. */
const MAX_AWAY = ENDING_STATES.reduce((sum, state) => sum + rowOf(state).most, 0);
/** Tolerated clock difference to a process that recorded an end. */
const SKEW_MS = 60_000;

/** Fields that only states that end use. */
export const NO_END = { until: 1, isOver: 1, lifting: 1 } as const;

/** An item whose return must be announced to watchers. */
export interface ReturnedItem extends ReaderAction {
  readonly until: Date;
}

/** Items whose state has ended, unannounced or with an expired lease. */
export const isEndDue = (now: Date): Filter<ItemMarkDocument> => leaseDue('lifting', now);

/** Marks with a state that ends, by the index of ends. `$exists` states the condition of the partial indexes. */
export function markEndsRepository(collection: Collection<ItemMarkDocument>) {
  const leases = leased(collection, 'lifting');

  return {
    /** Replaces the current state, or the end of the same one. */
    async set(userId: UserId, actionId: ActionId, state: ItemState, until: Date, at: Date): Promise<void> {
      await retryOnDuplicateKey(() =>
        collection.updateOne(
          { _id: readerActionId(userId, actionId) },
          { $set: { state, at, until, lifting: { due: until } }, $unset: { isOver: 1 } },
          { upsert: true },
        ),
      );
    },

    /** Ends a state early. An item that is already back keeps its position. */
    async clear(userId: UserId, actionId: ActionId, state: ItemState, now: Date): Promise<void> {
      await collection.updateOne(
        { _id: readerActionId(userId, actionId), state, until: { $gt: now }, isOver: { $exists: false } },
        { $unset: { state: 1, at: 1, ...NO_END } },
      );
    },

    /** The reader's items that have a state then. */
    async ahead(userId: UserId, state: ItemState, now: Date): Promise<ActionId[]> {
      const away = await collection
        .find({ '_id.userId': userId, until: { $exists: true, $gt: now } }, upTo(2 * MAX_AWAY))
        .project<Pick<ItemMarkDocument, '_id' | 'state'>>({ state: 1 })
        .toArray();
      return away.flatMap((mark) => (mark.state === state ? [mark._id.actionId.toHexString()] : []));
    },

    async past(userId: UserId, now: Date): Promise<Returned> {
      const documents = await collection
        .find(
          { '_id.userId': userId, until: { $exists: true, $lte: new Date(now.getTime() + SKEW_MS) } },
          upTo(MAX_AWAY + MAX_LIFTED),
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

    /** Deletes a few ends that no longer raise anything. */
    async forgetOld(userId: UserId, now: Date): Promise<void> {
      const old = await collection
        .find(
          { '_id.userId': userId, until: { $exists: true, $lte: now }, lifting: { $exists: false } },
          upTo(MAX_AWAY),
        )
        .sort({ until: -1 })
        .skip(MAX_LIFTED)
        .project<{ _id: ItemMarkDocument['_id'] }>({ _id: 1 })
        .toArray();
      if (old.length === 0) return;
      await collection.updateMany(
        { _id: { $in: old.map(({ _id }) => _id) }, until: { $lte: now } },
        { $unset: { state: 1, at: 1, ...NO_END } },
      );
    },

    /** Records ends that are due, and returns those that this claim must announce. */
    async claimEnded(claiming: Claiming, limit: number): Promise<ReturnedItem[]> {
      const claimed = await leases.claimSome(claiming, limit, { then: [{ $set: { isOver: true } }] });
      return claimed.flatMap(({ _id, until }) =>
        until === undefined ? [] : [{ userId: _id.userId, actionId: _id.actionId.toHexString(), until }],
      );
    },

    /** Records that watchers have been notified. Items that were put away again meanwhile stay unchanged. */
    finishEnded: (token: string, notified: readonly ReaderAction[]) =>
      leases.finishSome(
        token,
        notified.map(({ userId, actionId }) => readerActionId(userId, actionId)),
      ),
  };
}
