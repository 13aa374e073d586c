import type { Collection, Document, Filter, UpdateFilter, WithId, Sort } from 'mongodb';
import { literal } from '../stages/revision.ts';
import { isDuplicateKey } from './errors.ts';
import { inOneBatch, upTo } from './batches.ts';

/** Candidates read at once: the first ones may be taken by other processes that look at the same moment. */
const CANDIDATES = 8;

interface FirstOf<D> {
  readonly document: WithId<D>;
  /** It was the only candidate. */
  readonly isOnly: boolean;
}

/**
 * Updates the first document that matches a filter and returns the updated document; `null` when there is none. Finds
 * candidates without their shard key and then updates one by id, the shard key: a sharded database may refuse findAndModify
 * without it. Two round trips, one if there is none. Candidates taken by another process in between no longer match.
 */
async function claimFirstOf<D extends Document>(
  collection: Collection<D>,
  { due, sort }: { readonly due: Filter<D>; readonly sort: Sort },
  update: UpdateFilter<D> | Document[],
): Promise<FirstOf<D> | null> {
  for (;;) {
    const candidates = await collection
      .find(due, upTo(CANDIDATES))
      .sort(sort)
      .project<{ _id: WithId<D>['_id'] }>({ _id: 1 })
      .toArray();
    for (const { _id } of candidates) {
      const filter: Filter<D> = { ...due, _id };
      const claimed = await collection.findOneAndUpdate(filter, update, { returnDocument: 'after' });
      if (claimed !== null) return { document: claimed, isOnly: candidates.length === 1 };
    }
    if (candidates.length < CANDIDATES) return null;
  }
}

export interface Claiming {
  /** Unique to the claim. */
  readonly token: string;
  readonly now: Date;
  readonly leaseMs: number;
}

/** Valid until somebody else has claimed the same. */
export interface Held<K> {
  readonly id: K;
  readonly token: string;
}

/** Why an attempt failed. */
export interface Failure {
  readonly error: unknown;
}

/** A condition for documents that are due by then. `$exists` states the partial index's condition, since not every planner infers it from `$lte`. */
export function leaseDue(field: string, now: Date): Document {
  return { [`${field}.due`]: { $exists: true, $lte: now } };
}

/**
 * The leases in one field of a collection's documents. Work becomes due by setting `due` in the write that is the reason, and
 * is done when the field is removed. A worker that dies keeps nothing from being done: its lease expires.
 */
export function leased<D extends Document>(collection: Collection<D>, field: string) {
  type Id = WithId<D>['_id'];
  const due = `${field}.due`;
  const owner = `${field}.owner`;
  const attempts = `${field}.attempts`;

  /** Stages of a claim. */
  function taken({ token, now, leaseMs }: Claiming): Document[] {
    const until = new Date(now.getTime() + leaseMs);
    return [
      {
        $set: {
          [due]: until,
          [owner]: literal(token),
          [attempts]: { $add: [{ $ifNull: [`$${attempts}`, 0] }, 1] },
        },
      },
    ];
  }

  const held = ({ id, token }: Held<Id>): Filter<D> => ({ _id: id, [owner]: token });

  return {
    /** Filter of what a claim is still valid for. */
    held,

    /**
     * Claims what has been due longest; `null`: nothing is due. Two round trips, one if there is nothing.
     * @param options.where a further condition. @param options.then stages of the same write
     */
    claim(
      claiming: Claiming,
      { where = {}, then = [] }: { readonly where?: Filter<D>; readonly then?: readonly Document[] } = {},
    ): Promise<FirstOf<D> | null> {
      const filter = { ...leaseDue(field, claiming.now), ...where } as Filter<D>;
      return claimFirstOf(collection, { due: filter, sort: { [due]: 1 } }, [...taken(claiming), ...then]);
    },

    /** Claims the work of this document; `null`: it is not due. One round trip. */
    claimOne(id: Id, claiming: Claiming, where: Filter<D> = {}): Promise<WithId<D> | null> {
      const filter = { _id: id, ...leaseDue(field, claiming.now), ...where } as Filter<D>;
      return collection.findOneAndUpdate(filter, taken(claiming), { returnDocument: 'after' });
    },

    /**
     * Claims up to so many, those that have been due longest. Three round trips, one if there are none.
     * @param options.only of these, by a field of each
     */
    async claimSome(
      claiming: Claiming,
      limit: number,
      {
        where = {},
        then = [],
        only,
      }: {
        readonly where?: Filter<D>;
        readonly then?: readonly Document[];
        readonly only?: {
          readonly fields: readonly (keyof D & string)[];
          readonly isWanted: (document: WithId<D>) => boolean;
        };
      } = {},
    ): Promise<WithId<D>[]> {
      const isDue = { ...leaseDue(field, claiming.now), ...where } as Filter<D>;
      const fields = { _id: 1, ...Object.fromEntries((only?.fields ?? []).map((name) => [name, 1])) };
      const found = collection
        .find(isDue)
        .sort({ [due]: 1 })
        .project<WithId<D>>(fields)
        .limit(limit);
      const ids = (await inOneBatch(found, limit))
        .filter((document) => only?.isWanted(document) !== false)
        .map(({ _id }) => _id as Id);
      if (ids.length === 0) return [];
      await collection.updateMany({ _id: { $in: ids }, ...isDue }, [...taken(claiming), ...then]);
      const claimed = { _id: { $in: ids }, [owner]: claiming.token } as Filter<D>;
      return inOneBatch(collection.find(claimed), limit);
    },

    /**
     * Takes or extends the lease of a document that always has work, unless another owner has it: then `null`. One round trip.
     * @param initial fields of the document if there is none yet. Default: it is not made
     */
    async take(
      id: Id,
      { token, now, leaseMs }: Claiming,
      { where = {}, set = {}, initial }: { where?: Filter<D>; set?: Partial<D>; initial?: Partial<D> } = {},
    ): Promise<WithId<D> | null> {
      const isFree = [{ [owner]: token }, { [due]: { $not: { $gt: now } } }];
      const update = {
        $set: { ...set, [due]: new Date(now.getTime() + leaseMs), [owner]: token },
        ...(initial === undefined || isEmpty(initial) ? {} : { $setOnInsert: initial }),
      } as unknown as UpdateFilter<D>;
      try {
        return await collection.findOneAndUpdate({ _id: id, ...where, $or: isFree } as Filter<D>, update, {
          upsert: initial !== undefined,
          returnDocument: 'after',
        });
      } catch (error) {
        // It exists, and belongs to another owner.
        if (isDuplicateKey(error)) return null;
        throw error;
      }
    },

    /** Extends the lease. `false`: the claim is void. @param set expressions of what is written with it. */
    async renew(claim: Held<Id>, until: Date | Document, set: Document = {}): Promise<boolean> {
      const { matchedCount } = await collection.updateOne(held(claim), [{ $set: { ...set, [due]: until } }]);
      return matchedCount === 1;
    },

    /**
     * Gives the work back, due again from then on. `false`: the claim is void.
     * @param failure why the attempt failed. Default: it was given back in order, and does not count as an attempt
     */
    async release(claim: Held<Id>, from: Date, failure?: Failure): Promise<boolean> {
      const { matchedCount } = await collection.updateOne(held(claim), [
        {
          $set: {
            [due]: from,
            [owner]: '$$REMOVE',
            ...(failure === undefined
              ? { [attempts]: { $subtract: [`$${attempts}`, 1] } }
              : { [`${field}.error`]: literal(messageOf(failure.error)) }),
          },
        },
      ]);
      return matchedCount === 1;
    },

    /** Gives up the lease of a document that always has work. */
    async leave(claim: Held<Id>): Promise<void> {
      await collection.updateOne(held(claim), { $unset: { [field]: 1 } } as unknown as UpdateFilter<D>);
    },

    /** The work of all of these is done, where the claim is still valid. */
    async finishSome(token: string, ids: readonly Id[]): Promise<void> {
      const filter = { _id: { $in: ids }, [owner]: token } as unknown as Filter<D>;
      await collection.updateMany(filter, { $unset: { [field]: 1 } } as unknown as UpdateFilter<D>);
    },
  };
}

const isEmpty = (fields: object): boolean => Object.keys(fields).length === 0;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
