import { createHash } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { UserId } from '../../../domain/action.ts';
import { type HostEvent, hostEventView, type HostEventView } from '../../../domain/host-event.ts';
import type { Erasure, ErasureState, ErasureSubject, ErasureTask } from '../../../domain/erasure.ts';
import { fieldBeside } from '../../../domain/stored-id.ts';
import { idsOf, upTo } from '../../../storage/database/batches.ts';
import type { ErasureDocument } from '../../../storage/documents/documents.ts';
import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import { type Claiming, type Failure, type Held, leased } from '../../../storage/database/lease.ts';
import { NO_EVENTS, type EventEntries } from '../../../storage/stages/event-entries.ts';
import { CLOCK_DIFFERENCE_MS } from '../../../lib/clock.ts';
import { literal } from '../../../storage/stages/revision.ts';
import {
  type Declared,
  index,
  indexWithin,
  UNSENT,
  NOT_OF_ACTIONS,
} from '../../../storage/documents/declaration.ts';
import { beyond, type Stretch, turned } from '../../../storage/documents/keyset.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly erasures: ReturnType<typeof erasuresRepository>;
  }
}

export const ERASURES: Declared<'erasures'> = {
  name: 'erasures',
  holds: 'the progress of erasing a member',
  ids: { member: ['by', 'memberId', 'pseudonym'] },
  indexes: [
    index('due', { 'pass.due': 1 }, 'erasure: the next one to take up', {
      partialFilterExpression: { 'pass.due': { $exists: true } },
    }),
    index('newest', { startedAt: -1, _id: -1 }, 'erasures, the latest first'),
    UNSENT,
    indexWithin('newest', { startedAt: -1, _id: -1 }, 'erasures, the latest first'),
  ],
  shard: { because: 'one document per erased member' },
  erase: ['REQUESTS'],
  export: { because: 'says who asked for it, not whom it was about' },
  action: NOT_OF_ACTIONS,
};

/** A worker's claim on one erasure, valid until the lease ends. */
export interface ErasureClaim extends Held<string> {
  /** Identifies the erasure without naming the member. */
  readonly id: string;
  /** RUNNING: the first pass, which answers the request. CONFIRMING: the second pass. */
  readonly state: Exclude<ErasureState, 'DONE'>;
  /** Including this one, since the last completed round. */
  readonly attempts: number;
  readonly subject: ErasureTask;
}

/** One-way: tells whether a given member was erased, but not who was. */
export function erasureKeyOf(memberId: UserId): string {
  return createHash('sha256').update(`erasure\0${memberId}`).digest('hex');
}

/** The last write of an erasure. */
const done = (now: Date) =>
  ({
    $set: { state: 'DONE', step: null, finishedAt: now },
    $unset: { pass: 1, memberId: 1, names: 1, pseudonym: 1 },
  }) as const;

function toErasure(document: ErasureDocument): Erasure {
  const { memberId, state, by, startedAt, finishedAt, step, changed } = document;
  return { memberId: memberId ?? null, state, requestedBy: by, startedAt, finishedAt, step, changed };
}

/** One document per erased member: the commit point of an erasure and its lease. Unique key: `_id`. */
export function erasuresRepository(
  collection: Collection<ErasureDocument>,
  events: EventEntries = NO_EVENTS,
) {
  const leases = leased(collection, 'pass');

  return {
    /**
     * Requests an erasure in one write, due at once. A running erasure keeps its pseudonym. One waiting for its second pass
     * starts over, and so does a DONE one, with the given pseudonym.
     */
    async begin(request: ErasureSubject & { readonly by: UserId; readonly now: Date }): Promise<void> {
      const { memberId, names, pseudonym, by, now } = request;
      const isOpen = { $ne: [{ $ifNull: ['$state', 'DONE'] }, 'DONE'] };
      const isWorkedOn = { $and: [isOpen, { $gt: ['$pass.owner', null] }, { $gt: ['$pass.due', now] }] };
      const onceOpen = (field: string, fresh: unknown) => ({ $cond: [isOpen, `$${field}`, fresh] });
      const set = {
        memberId: literal(memberId),
        ...fieldBeside(memberId),
        names: { $setUnion: [{ $ifNull: ['$names', []] }, literal([...names])] },
        pseudonym: onceOpen('pseudonym', literal(pseudonym)),
        by: onceOpen('by', literal(by)),
        startedAt: onceOpen('startedAt', now),
        finishedAt: null,
        step: onceOpen('step', null),
        changed: onceOpen('changed', 0),
        state: { $cond: [isWorkedOn, '$state', 'RUNNING'] },
        pass: { $cond: [isWorkedOn, '$pass', { due: now }] },
      };
      await retryOnDuplicateKey(() =>
        collection.updateOne({ _id: erasureKeyOf(memberId) }, [{ $set: set }], { upsert: true }),
      );
    },

    /** Claims this member's erasure, or the one that has been due longest; `null`: none is due. Index `due`. */
    async claim(claiming: Claiming, memberId?: UserId): Promise<ErasureClaim | null> {
      const document =
        memberId === undefined
          ? (await leases.claim(claiming))?.document
          : await leases.claimOne(erasureKeyOf(memberId), claiming);
      if (document == null) return null;
      const { _id: id, state, pass, memberId: erased, names, pseudonym, startedAt } = document;
      if (state === 'DONE' || erased === undefined || pseudonym === undefined)
        throw new Error('The document of a due erasure names no member');
      const subject = { memberId: erased, names: names ?? [], pseudonym, startedAt };
      return { id, token: claiming.token, state, attempts: pass?.attempts ?? 1, subject };
    },

    /** Records progress and extends the lease. `false`: the claim is void. */
    progress: (
      claim: ErasureClaim,
      { step, changed }: { readonly step: string; readonly changed: number },
      until: Date,
    ) => leases.renew(claim, until, { step, changed: { $add: ['$changed', changed] } }),

    /**
     * Ends a round. After the first, a second pass is due at `confirmAt`; after the second, the erasure is DONE and the
     * member's id is removed here, too. `false`: the claim is void.
     */
    async finishRound(claim: ErasureClaim, now: Date, confirmAt: Date): Promise<boolean> {
      const result = await collection.updateOne(
        leases.held(claim),
        claim.state === 'RUNNING'
          ? {
              $set: { state: 'CONFIRMING', step: null, pass: { due: confirmAt } },
              ...events.pushed('member.erased', now),
            }
          : done(now),
      );
      return result.matchedCount === 1;
    },

    /** Due again from then on, for a reason or in order. Does nothing when the claim is void. */
    release: (claim: ErasureClaim, from: Date, failure?: Failure) => leases.release(claim, from, failure),

    /** Members of these erasures, while still known. Unique key: `_id`. */
    async subjectsOf(keys: readonly string[]): Promise<Map<string, UserId>> {
      if (keys.length === 0) return new Map();
      const documents = await collection
        .find({ _id: { $in: [...keys] } })
        .project<{ _id: string; memberId?: string }>({ memberId: 1 })
        .toArray();
      return new Map(
        documents.flatMap(({ _id, memberId }) => (memberId === undefined ? [] : [[_id, memberId] as const])),
      );
    },

    /** `null` when the member's erasure was never requested. */
    async find(memberId: UserId): Promise<Erasure | null> {
      const document = await collection.findOne({ _id: erasureKeyOf(memberId) });
      return document === null ? null : toErasure(document);
    },

    /**
     * The members among these whose erasure is running or began after the time given for each. May include one too many, since
     * clocks of processes may differ. Unique key: `_id`.
     */
    async erasedAmong(since: ReadonlyMap<UserId, Date>): Promise<UserId[]> {
      const byKey = new Map([...since.keys()].map((memberId) => [erasureKeyOf(memberId), memberId]));
      const documents = await collection
        .find({ _id: { $in: [...byKey.keys()] } })
        .project<Pick<ErasureDocument, '_id' | 'state' | 'startedAt'>>({ state: 1, startedAt: 1 })
        .toArray();
      return documents.flatMap(({ _id, state, startedAt }) => {
        const memberId = byKey.get(_id);
        const time = memberId === undefined ? undefined : since.get(memberId);
        if (memberId === undefined || time === undefined) return [];
        const isConcerned = state !== 'DONE' || startedAt.getTime() >= time.getTime() - CLOCK_DIFFERENCE_MS;
        return isConcerned ? [memberId] : [];
      });
    },

    /** The members among these who are being erased, or whose erasure ended after a time. Unique key: `_id`. */
    async erasedSince(memberIds: readonly UserId[], since: Date): Promise<UserId[]> {
      const byKey = new Map(memberIds.map((memberId) => [erasureKeyOf(memberId), memberId]));
      const documents = await idsOf(
        collection.find({
          _id: { $in: [...byKey.keys()] },
          $or: [{ state: { $ne: 'DONE' } }, { finishedAt: { $gte: since } }],
        }),
      );
      return documents.flatMap((key) => byKey.get(key) ?? []);
    },

    /**
     * Prepares for members who are described again. A pending second pass is cancelled, since new data belongs to a new
     * person. Returns whose pass that was, and who is being erased right now.
     */
    async admit(
      memberIds: readonly UserId[],
      now: Date,
    ): Promise<{ readonly admitted: UserId[]; readonly erasing: UserId[] }> {
      const byKey = new Map(memberIds.map((memberId) => [erasureKeyOf(memberId), memberId]));
      const open = await idsOf(collection.find({ _id: { $in: [...byKey.keys()] }, state: { $ne: 'DONE' } }));
      const admitted: UserId[] = [];
      const erasing: UserId[] = [];
      for (const _id of open) {
        const result = await collection.updateOne(
          {
            _id,
            state: 'CONFIRMING',
            $or: [{ 'pass.owner': { $exists: false } }, { 'pass.due': { $lte: now } }],
          },
          done(now),
        );
        const memberId = byKey.get(_id);
        if (memberId !== undefined) (result.matchedCount === 1 ? admitted : erasing).push(memberId);
      }
      return { admitted, erasing };
    },

    /** The latest first. Index `newest`. */
    async list(beside: UserId, { from, isUp, limit }: Stretch<ErasurePlace>): Promise<ListedErasure[]> {
      const order = turned({ startedAt: -1, _id: -1 }, isUp);
      const documents = await collection
        .find(
          {
            ...fieldBeside(beside),
            ...beyond(order, from && { startedAt: from.startedAt, _id: from.key }),
          },
          upTo(limit),
        )
        .sort(order)
        .toArray();
      return documents.map((document) => ({ ...toErasure(document), key: document._id }));
    },

    /** Replaces the member as requester of erasures. Not by their pseudonym: next to the key it would reveal whose it is. */
    async anonymiseRequests(memberId: UserId, unlinked: UserId): Promise<number> {
      const { modifiedCount } = await collection.updateMany({ by: memberId }, { $set: { by: unlinked } });
      return modifiedCount;
    },
  };
}

type ErasuresRepository = ReturnType<typeof erasuresRepository>;

/** Host events as delivered, with the members of erasures while known. No round trip if there are no erasures among them. */
export async function viewHostEvents(
  erasures: ErasuresRepository,
  events: readonly HostEvent[],
): Promise<HostEventView[]> {
  const keys = events.flatMap(({ facts }) => facts.erasureKey ?? []);
  const subjects = await erasures.subjectsOf(keys);
  return events.map((event) => hostEventView(event, (key) => subjects.get(key) ?? null));
}

export interface ErasurePlace {
  readonly startedAt: Date;
  /** Identifies the erasure without naming the member: 64 hex digits. */
  readonly key: string;
}

export type ListedErasure = Erasure & ErasurePlace;
