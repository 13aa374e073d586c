import { ObjectId, type Collection } from 'mongodb';
import type { Action, ActionId, Engagement, RefId } from '../domain/action.ts';
import { toAction } from './action-document.ts';
import type { ActionDocument } from './documents.ts';
import { passRequested } from './fan-out-stages.ts';

/** One worker's hold on one action: valid until the lease ends, void for any other version. */
export interface Claim {
  readonly action: Action;
  /** Names this claim alone; a later claim by the same worker has another. */
  readonly token: string;
  readonly version: number;
  readonly attempts: number;
  /**
   * An earlier pass, at this version or another, was cut off: it may have written to feeds and not told their readers.
   * Or the action was hidden and is shown again: readers may not have been told of what was written before.
   */
  readonly wasCutOff: boolean;
  /** Where the pass goes on: readers up to this id have been served. Null: from the beginning. */
  readonly afterUserId: string | null;
  readonly delivered: number;
}

/**
 * How a pass ended that did not complete its fan-out: by a failure of its own, which counts as an attempt; cut off by
 * something that is not its fault, after which feeds may be written whose readers were not told; or in good order, as at
 * a shutdown, after which nothing is to be known of it.
 */
export type PassEnd = 'failed' | 'cut-off' | 'in-order';

const UNCOUNTED = {
  failed: {},
  'cut-off': { $inc: { 'fanOut.attempts': -1 } },
  'in-order': { $inc: { 'fanOut.attempts': -1, 'fanOut.begun': -1 } },
} as const satisfies Readonly<Record<PassEnd, object>>;

/** The lease protocol of the fan-out: every write is conditional on the claim that makes it. */
export function fanOutsRepository(collection: Collection<ActionDocument>) {
  async function claimWhere(
    state: 'PENDING' | 'IN_PROGRESS',
    token: string,
    now: Date,
    leaseUntil: Date,
  ): Promise<Claim | null> {
    const document = await collection.findOneAndUpdate(
      // `$exists` names the partial index's own condition: not every planner infers it from `$lte`.
      { 'fanOut.state': state, 'fanOut.leaseUntil': { $exists: true, $lte: now } },
      {
        $set: { 'fanOut.state': 'IN_PROGRESS', 'fanOut.worker': token, 'fanOut.leaseUntil': leaseUntil },
        $inc: { 'fanOut.attempts': 1, 'fanOut.begun': 1 },
      },
      { sort: { 'fanOut.leaseUntil': 1 }, returnDocument: 'after' },
    );
    if (document === null) return null;
    const { version, attempts, checkpoint, begun = 1 } = document.fanOut;
    const resumed = checkpoint?.version === version ? checkpoint : null;
    return {
      action: toAction(document),
      token,
      version,
      attempts,
      wasCutOff: begun > 1,
      afterUserId: resumed?.afterUserId ?? null,
      delivered: resumed?.delivered ?? 0,
    };
  }

  function held(claim: Claim) {
    return { _id: new ObjectId(claim.action.id), 'fanOut.worker': claim.token };
  }

  return {
    /** The longest waiting action, else one whose lease has expired. Index `claim`. */
    async claim(token: string, now: Date, leaseMs: number): Promise<Claim | null> {
      const leaseUntil = new Date(now.getTime() + leaseMs);
      return (
        (await claimWhere('PENDING', token, now, leaseUntil)) ??
        (await claimWhere('IN_PROGRESS', token, now, leaseUntil))
      );
    },

    /** When the next action that is PENDING and may not be claimed yet may be. Null: there is none. Index `claim`. */
    async nextDue(now: Date): Promise<Date | null> {
      const document = await collection.findOne(
        { 'fanOut.state': 'PENDING', 'fanOut.leaseUntil': { $exists: true, $gt: now } },
        { sort: { 'fanOut.leaseUntil': 1 }, projection: { _id: 0, 'fanOut.leaseUntil': 1 } },
      );
      return document?.fanOut.leaseUntil ?? null;
    },

    /**
     * Extends the lease and notes the progress. False: the claim is void, or the action has been hidden, shown again or
     * deleted meanwhile. Other changes do not end the pass, or an action that is commented on all the time would never
     * reach the end of its audience: the version tells the end of the pass that another has to follow.
     */
    async checkpoint(
      claim: Claim,
      progress: { readonly afterUserId: string; readonly delivered: number },
      leaseUntil: Date,
    ): Promise<boolean> {
      const result = await collection.updateOne(
        { ...held(claim), isHidden: claim.action.isHidden, isDeleted: claim.action.isDeleted },
        {
          $set: {
            'fanOut.checkpoint': { version: claim.version, ...progress },
            'fanOut.delivered': progress.delivered,
            'fanOut.leaseUntil': leaseUntil,
          },
        },
      );
      return result.matchedCount === 1;
    },

    /** The claims that are held now. Index `claim`. */
    async heldClaims(): Promise<string[]> {
      const documents = await collection
        .find({ 'fanOut.state': 'IN_PROGRESS', 'fanOut.leaseUntil': { $exists: true } })
        .project<{ fanOut: { worker?: string } }>({ _id: 0, 'fanOut.worker': 1 })
        .toArray();
      return documents.flatMap(({ fanOut }) => fanOut.worker ?? []);
    },

    /** Extends the lease alone. False: the claim is void. */
    async renew(claim: Claim, leaseUntil: Date): Promise<boolean> {
      const result = await collection.updateOne(held(claim), { $set: { 'fanOut.leaseUntil': leaseUntil } });
      return result.matchedCount === 1;
    },

    /** Notes which refs are not pushed to. False: the claim is void. */
    async setPulled(claim: Claim, refIds: readonly RefId[]): Promise<boolean> {
      const result = await collection.updateOne(held(claim), { $set: { pullRefIds: [...refIds] } });
      return result.matchedCount === 1;
    },

    /** Writes what the pass has derived from the interactions. False: the claim is void. */
    async setEngagement(claim: Claim, engagement: Engagement, latest: Date): Promise<boolean> {
      const result = await collection.updateOne(held(claim), { $set: { engagement }, $max: { latest } });
      return result.matchedCount === 1;
    },

    /** DONE, if the version is still the one claimed. False: the claim is void or the action changed meanwhile. */
    async finish(claim: Claim, delivered: number): Promise<boolean> {
      const result = await collection.updateOne(
        { ...held(claim), 'fanOut.version': claim.version },
        {
          $set: {
            'fanOut.state': 'DONE',
            'fanOut.delivered': delivered,
            'fanOut.error': null,
            'fanOut.doneAt': new Date(),
          },
          $unset: {
            'fanOut.worker': 1,
            'fanOut.leaseUntil': 1,
            'fanOut.checkpoint': 1,
            'fanOut.begun': 1,
          },
        },
      );
      return result.matchedCount === 1;
    },

    /**
     * The end for a deleted action, in place of `finish`: DONE, and nothing is left of it but a tombstone that keeps its
     * id, actor and idempotency key. False: the claim is void or the action changed meanwhile.
     */
    async bury(claim: Claim): Promise<boolean> {
      const result = await collection.updateOne(
        { ...held(claim), 'fanOut.version': claim.version, isDeleted: true },
        [
          {
            $set: {
              'fanOut.state': 'DONE',
              'fanOut.delivered': 0,
              'fanOut.error': null,
              audience: [],
              mentions: [],
              recipients: [],
              refs: [],
              refIds: [],
              // By this alone a tombstone is found from now on, whoever is its actor when it is written.
              otherIds: ['$actorId'],
              descriptor: { $literal: { type: claim.action.descriptor.type, tags: [] } },
              engagement: { comments: 0, likes: 0, reshares: 0, lastInteraction: null },
            },
          },
          {
            $unset: [
              'fanOut.worker',
              'fanOut.leaseUntil',
              'fanOut.checkpoint',
              'fanOut.begun',
              'names',
              'pullRefIds',
              'isBumped',
            ],
          },
        ],
      );
      return result.matchedCount === 1;
    },

    /**
     * Gives the claim back: PENDING from `notBefore` on, or FAILED. False when it was lost before.
     * @param outcome.ended how the pass came to its end; see `PassEnd`.
     */
    async release(
      claim: Claim,
      outcome: {
        readonly state: 'PENDING' | 'FAILED';
        readonly error: string | null;
        readonly notBefore: Date;
        readonly ended: PassEnd;
      },
    ): Promise<boolean> {
      const result = await collection.updateOne(held(claim), {
        $set: {
          'fanOut.state': outcome.state,
          'fanOut.error': outcome.error,
          'fanOut.leaseUntil': outcome.notBefore,
        },
        $unset: { 'fanOut.worker': 1 },
        ...UNCOUNTED[outcome.ended],
      });
      return result.matchedCount === 1;
    },

    /**
     * Asks for one more pass over the action as it is then: raises the version, and makes it PENDING unless somebody
     * is working on it, who will find the version raised.
     */
    async requestPass(id: ActionId, now: Date): Promise<void> {
      await collection.updateOne({ _id: new ObjectId(id) }, [{ $set: passRequested(now) }]);
    },

    /** Puts a FAILED fan-out back to PENDING, its attempts forgotten. Null when it is not FAILED. */
    async retry(id: ActionId, now: Date): Promise<Action | null> {
      const document = await collection.findOneAndUpdate(
        { _id: new ObjectId(id), 'fanOut.state': 'FAILED' },
        {
          $set: {
            'fanOut.state': 'PENDING',
            'fanOut.attempts': 0,
            'fanOut.leaseUntil': now,
          },
        },
        { returnDocument: 'after' },
      );
      return document === null ? null : toAction(document);
    },
  };
}

export type FanOutsRepository = ReturnType<typeof fanOutsRepository>;
