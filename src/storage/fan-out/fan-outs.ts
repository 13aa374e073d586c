import { ObjectId, type Collection, type Filter } from 'mongodb';
import type { Action, ActionId, Engagement, RefId, Reshare } from '../../domain/action.ts';
import { DEFAULT_LANE, type Lane } from '../../domain/lane.ts';
import { toAction } from '../actions/action-document.ts';
import type { ActionDocument } from '../documents/documents.ts';
import { engagementDocument } from '../documents/engagement-document.ts';
import { NO_EVENTS, type EventEntries } from '../stages/event-entries.ts';
import { claimFirstOf } from '../database/claim-first.ts';
import { claimOf, ownedBy, isSameAudience, type Claim } from './fan-out-claim.ts';
import { fanOutEnds } from './fan-out-ends.ts';
import { ALL_LANES, laneFilter, type LaneRange } from './fan-out-lanes.ts';
import { passRequested } from '../stages/fan-out-stages.ts';
import { resharesReplaced } from '../stages/reshare-stages.ts';
import { clock } from '../../lib/clock.ts';
import { revised, unrevised } from '../stages/revision.ts';

export type { Claim } from './fan-out-claim.ts';

export interface ClaimOptions {
  /** Tried one after the other. Default: all lanes. */
  readonly ranges?: readonly LaneRange[];
  /** Actions whose lease is not taken over: those that the same worker has, and is late to renew. */
  readonly except?: readonly ActionId[];
  /** Whether one is taken over whose lease has expired. Default: yes. */
  readonly takesOver?: boolean;
}

/** A claim, and whether anything else was due in the lanes it was looked for in. */
export interface FoundClaim extends Claim {
  readonly isOnly: boolean;
}

/** The lease protocol of the fan-out: every write is conditional on the claim that makes it. */
export function fanOutsRepository(collection: Collection<ActionDocument>, events: EventEntries = NO_EVENTS) {
  async function claimWhere(
    state: 'PENDING' | 'IN_PROGRESS',
    lanes: Filter<ActionDocument>,
    { token, now, leaseMs }: { readonly token: string; readonly now: Date; readonly leaseMs: number },
  ): Promise<FoundClaim | null> {
    const found = await claimFirstOf(
      collection,
      {
        // `$exists` names the partial index's own condition: not every planner infers it from `$lte`.
        due: { 'fanOut.state': state, ...lanes, 'fanOut.leaseUntil': { $exists: true, $lte: now } },
        sort: { ...(state === 'PENDING' ? { 'fanOut.lane': -1 } : {}), 'fanOut.leaseUntil': 1 },
      },
      unrevised({
        $set: {
          'fanOut.state': 'IN_PROGRESS',
          'fanOut.worker': token,
          'fanOut.leaseUntil': new Date(now.getTime() + leaseMs),
        },
        $inc: { 'fanOut.attempts': 1, 'fanOut.begun': 1 },
        $unset: { 'fanOut.nextLane': 1 },
      }),
    );
    return found === null ? null : { ...claimOf(found.document, token), isOnly: found.isOnly };
  }

  return {
    ...fanOutEnds(collection, events),

    /**
     * The longest waiting action of the most urgent lane, else one whose lease has expired. Two round trips, and one for
     * each range before in which nothing waits. Index `claim_by_lane`, then `claim`.
     */
    async claim(
      token: string,
      now: Date,
      leaseMs: number,
      { ranges = ALL_LANES, except = [], takesOver = true }: ClaimOptions = {},
    ): Promise<FoundClaim | null> {
      for (const range of ranges) {
        const claim = await claimWhere('PENDING', laneFilter(range), { token, now, leaseMs });
        if (claim !== null) return claim;
      }
      if (!takesOver) return null;
      const others = except.length === 0 ? {} : { _id: { $nin: except.map((id) => new ObjectId(id)) } };
      return claimWhere('IN_PROGRESS', others, { token, now, leaseMs });
    },

    /**
     * Puts what was written by a process that knows no lanes into the one it is counted in. Index `claim_by_lane`.
     * Until then it is not claimed.
     */
    async adoptLanes(): Promise<void> {
      await collection.updateMany(
        {
          'fanOut.state': 'PENDING',
          'fanOut.lane': { $exists: false },
          'fanOut.leaseUntil': { $exists: true },
        },
        unrevised({ $set: { 'fanOut.lane': DEFAULT_LANE } }),
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
     * Extends the lease and notes the progress. Returns the lane, which may have become more urgent; null: the claim is
     * void, or the action has been hidden, shown again, deleted or addressed to others meanwhile. Other changes do not end
     * the pass, or an action that is commented on all the time would never reach the end of its audience: the version tells
     * the end of the pass that another has to follow.
     */
    async checkpoint(
      claim: Claim,
      progress: { readonly afterUserId: string; readonly delivered: number },
      leaseUntil: Date,
    ): Promise<Lane | null> {
      const document = await collection.findOneAndUpdate(
        {
          ...ownedBy(claim),
          ...isSameAudience(claim),
          isHidden: claim.action.isHidden,
          isDeleted: claim.action.isDeleted,
        },
        unrevised({
          $set: {
            'fanOut.checkpoint': { version: claim.version, ...progress },
            'fanOut.delivered': progress.delivered,
            'fanOut.leaseUntil': leaseUntil,
          },
        }),
        { projection: { _id: 0, 'fanOut.lane': 1 }, returnDocument: 'after' },
      );
      return document === null ? null : (document.fanOut.lane ?? DEFAULT_LANE);
    },

    /** The claims that have not expired. Index `claim`. */
    async ownClaims(): Promise<string[]> {
      const documents = await collection
        .find({ 'fanOut.state': 'IN_PROGRESS', 'fanOut.leaseUntil': { $exists: true } })
        .project<{ fanOut: { worker?: string } }>({ _id: 0, 'fanOut.worker': 1 })
        .toArray();
      return documents.flatMap(({ fanOut }) => fanOut.worker ?? []);
    },

    /**
     * Extends the lease alone, from when the database does it on, however long it took to get there. False: the claim is
     * void. One that expired stays valid as long as nobody else has claimed the action.
     */
    async renew(claim: Claim, leaseMs: number): Promise<boolean> {
      const result = await collection.updateOne(
        ownedBy(claim),
        unrevised([{ $set: { 'fanOut.leaseUntil': { $add: ['$$NOW', leaseMs] } } }]),
      );
      return result.matchedCount === 1;
    },

    /** Notes which refs are not pushed to. False: the claim is void, or the action is addressed to others. */
    async setPulled(claim: Claim, refIds: readonly RefId[]): Promise<boolean> {
      const result = await collection.updateOne(
        { ...ownedBy(claim), ...isSameAudience(claim) },
        revised({ $set: { pullRefIds: [...refIds] }, $unset: { undecidedRefIds: 1 } }),
      );
      return result.matchedCount === 1;
    },

    /**
     * Brings the reshares in line with the interactions, and asks for a pass over the action as it is then. False: it has
     * changed since it was claimed, and another pass will find it so.
     */
    async correctReshares(claim: Claim, reshares: readonly Reshare[]): Promise<boolean> {
      const kept = new Set(reshares.map(({ by }) => by));
      const isLosing = claim.action.reshares.some(({ by }) => !kept.has(by));
      const documents = reshares.map(({ by, at }) => ({ by, at }));
      const result = await collection.updateOne(
        { ...ownedBy(claim), 'fanOut.version': claim.action.fanOut.version },
        revised([{ $set: resharesReplaced(documents, { isLosing, now: clock.now(), events }) }]),
      );
      return result.matchedCount === 1;
    },

    /** Writes what the pass has derived from the interactions. False: the claim is void. */
    async setEngagement(claim: Claim, engagement: Engagement, latest: Date): Promise<boolean> {
      const result = await collection.updateOne(
        ownedBy(claim),
        revised({ $set: { engagement: engagementDocument(engagement) }, $max: { latest } }),
      );
      return result.matchedCount === 1;
    },

    /**
     * Asks for one more pass over the action as it is then: raises the version, and makes it PENDING unless somebody
     * is working on it, who will find the version raised.
     */
    async requestPass(id: ActionId, now: Date, lane: Lane = DEFAULT_LANE): Promise<void> {
      await collection.updateOne(
        { _id: new ObjectId(id) },
        unrevised([{ $set: passRequested({ notBefore: now, lane }) }]),
      );
    },

    /**
     * For a worker that has lost its claim and may have written since: asks for one more pass if the action has changed
     * after it was claimed. Where it has not, the worker that has it now writes the same. It may also have delivered to
     * whom the action is not addressed any more.
     */
    async requestPassAfter({ action, version, lane }: Claim, now: Date): Promise<void> {
      await collection.updateOne(
        { _id: new ObjectId(action.id), 'fanOut.version': { $gt: version } },
        unrevised([{ $set: { ...passRequested({ notBefore: now, lane }), 'fanOut.sweptRev': '$$REMOVE' } }]),
      );
    },

    /** Puts a FAILED fan-out back to PENDING, its attempts forgotten. Null when it is not FAILED. */
    async retry(id: ActionId, now: Date): Promise<Action | null> {
      const document = await collection.findOneAndUpdate(
        { _id: new ObjectId(id), 'fanOut.state': 'FAILED' },
        unrevised({
          $set: {
            'fanOut.state': 'PENDING',
            'fanOut.attempts': 0,
            'fanOut.lane': DEFAULT_LANE,
            'fanOut.leaseUntil': now,
          },
        }),
        { returnDocument: 'after' },
      );
      return document === null ? null : toAction(document);
    },
  };
}

export type FanOutsRepository = ReturnType<typeof fanOutsRepository>;
