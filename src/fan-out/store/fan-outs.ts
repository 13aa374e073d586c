import { upToEntries } from '../../lib/weight.ts';
import { unionOf, upTo } from '../../storage/database/batches.ts';
import { ObjectId, type Collection, type Filter, type UpdateFilter } from 'mongodb';
import type { Action, ActionId, Engagement, RefId, Reshare, UserId } from '../../domain/action.ts';
import { DEFAULT_LANE, LANES, type Lane } from '../../domain/lane.ts';
import { toAction } from '../../storage/actions/action-document.ts';
import { type ActionDocument, engagementDocument } from '../../storage/documents/documents.ts';
import { NO_EVENTS, type EventEntries } from '../../storage/stages/event-entries.ts';
import { claimOf, ownedBy, ownedByBatch, isSameAudience, type Claim } from './fan-out-claim.ts';
import { fanOutEnds } from './fan-out-ends.ts';
import { passRequested } from '../../storage/stages/fan-out-stages.ts';
import { resharesReplaced } from '../../storage/stages/interaction-stages.ts';
import { clock } from '../../lib/clock.ts';
import { revised, unrevised, literal } from '../../storage/stages/revision.ts';
import { LRUCache } from 'lru-cache';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly fanOuts: ReturnType<typeof fanOutsRepository>;
  }
}

/**
 * How an unfinished pass ended. `failed`: by its own failure, which counts as an attempt. `cut-off`: interrupted by
 * something else, possibly after writing to feeds without notifying readers. `in-order`: as at a shutdown, without any loose
 * ends.
 */
type PassEnd = 'failed' | 'cut-off' | 'in-order';

const UNCOUNTED = {
  failed: {},
  'cut-off': { $inc: { 'fanOut.attempts': -1 } },
  'in-order': { $inc: { 'fanOut.attempts': -1, 'fanOut.begun': -1 } },
} as const satisfies Readonly<Record<PassEnd, object>>;

/** The ways in which a pass ends that did not serve its whole audience; see `fan-outs.ts`. */
function fanOutReleases(collection: Collection<ActionDocument>, events: EventEntries = NO_EVENTS) {
  return {
    /**
     * Releases claims of one batch: PENDING from `notBefore` on. `false` if one of them was lost before.
     * @param outcome.ended how the pass ended; see `PassEnd`.
     */
    async release(
      claims: readonly [Claim, ...Claim[]],
      outcome: { readonly error: string | null; readonly notBefore: Date; readonly ended: PassEnd },
    ): Promise<boolean> {
      const result = await collection.updateMany(
        ownedByBatch(claims),
        unrevised({
          $set: {
            'fanOut.state': 'PENDING',
            'fanOut.error': outcome.error,
            'fanOut.leaseUntil': outcome.notBefore,
          },
          $unset: { 'fanOut.worker': 1 },
          ...UNCOUNTED[outcome.ended],
        }),
      );
      return result.matchedCount === claims.length;
    },

    /**
     * Gives the fan-out up: FAILED. If the action changed since the claim, it is PENDING instead, with no attempts, as it
     * would be if the change came after the failure: nobody else runs the pass that the change requested.
     * @returns whether it is FAILED
     */
    async giveUp(
      claim: Claim,
      { error, notBefore }: { readonly error: string; readonly notBefore: Date },
    ): Promise<boolean> {
      const isChanged = { $ne: ['$fanOut.version', claim.action.fanOut.version] };
      const document = await collection.findOneAndUpdate(
        ownedBy(claim),
        unrevised([
          {
            $set: {
              'fanOut.state': { $cond: [isChanged, 'PENDING', 'FAILED'] },
              'fanOut.error': literal(error),
              'fanOut.attempts': { $cond: [isChanged, 0, '$fanOut.attempts'] },
              'fanOut.leaseUntil': notBefore,
              'fanOut.deliveredVersion': {
                $cond: [isChanged, { $ifNull: ['$fanOut.deliveredVersion', '$$REMOVE'] }, '$$REMOVE'],
              },
              ...events.staged('fanout.failed', clock.now(), { $not: [isChanged] }),
            },
          },
          { $unset: ['fanOut.worker'] },
        ]),
        { projection: { _id: 0, 'fanOut.state': 1 }, returnDocument: 'after' },
      );
      return document?.fanOut.state === 'FAILED';
    },

    /**
     * For a worker that has lost its claim but is alive: lets the next claim continue from this progress unless it has come
     * further, and does not count the attempt, which did not fail.
     */
    async keepProgress(
      claim: Claim,
      reached: { readonly afterUserId: string; readonly delivered: number } | null,
    ): Promise<void> {
      const { action, version } = claim;
      const _id = new ObjectId(action.id);
      const checkpoint = '$fanOut.checkpoint';
      const isFurther = {
        $or: [
          { $lt: [`${checkpoint}.version`, version] },
          {
            $and: [
              { $eq: [`${checkpoint}.version`, version] },
              { $lt: [`${checkpoint}.afterUserId`, literal(reached?.afterUserId ?? '')] },
            ],
          },
        ],
      };
      await collection.updateOne(
        {
          ...{ _id, ...isSameAudience(claim), 'fanOut.state': 'IN_PROGRESS' },
          ...{ isHidden: action.isHidden, isDeleted: action.isDeleted },
        },
        unrevised([
          {
            $set: {
              'fanOut.attempts': { $max: [1, { $subtract: ['$fanOut.attempts', 1] }] },
              ...(reached === null
                ? {}
                : {
                    'fanOut.checkpoint': {
                      $cond: [isFurther, literal({ version, ...reached }), checkpoint],
                    },
                  }),
            },
          },
        ]),
      );
    },
  };
}

/** Fan-outs of one actor that may wait in the lane LIVE. */
const LIVE_PER_ACTOR = 100;
/** Publications beyond the share until the next look whether there is room again. */
const UNSEEN_BEYOND = 10;
/** Actors whose publications a process counts. One that is forgotten starts again at none. */
const ACTORS = 10_000;

/**
 * Keeps what one actor does from filling the lane LIVE for everybody. Part of the repository of fan-outs. A process counts
 * what it publishes for an actor and looks at the database only when that reaches the share: usual publications cost nothing.
 * Every process grants the share once, and then only what is left of it for all of them.
 */
function liveShare(collection: Collection<ActionDocument>) {
  /** Most that may be waiting: found by the last look, and published since. */
  const waiting = new LRUCache<UserId, number>(upToEntries(ACTORS));
  /** Publications until the next look of actors whose share was used up at the last one. */
  const beyond = new LRUCache<UserId, number>(upToEntries(ACTORS));

  return {
    /**
     * The lane for new actions, or edits, of an actor: BULK while their share of LIVE is used up. No round trip; one after
     * each `LIVE_PER_ACTOR` actions, and for each `UNSEEN_BEYOND` beyond the share. Index `claim_by_lane`.
     */
    async laneFor(actorId: UserId, count: number): Promise<Lane> {
      const unseen = beyond.get(actorId) ?? 0;
      if (unseen > 0) {
        beyond.set(actorId, unseen - count);
        return 'BULK';
      }
      const expected = (waiting.get(actorId) ?? 0) + count;
      waiting.set(actorId, expected);
      if (expected <= LIVE_PER_ACTOR) return 'LIVE';
      const found = await collection.countDocuments(
        {
          ...{ 'fanOut.state': 'PENDING', 'fanOut.lane': 'LIVE', 'fanOut.leaseUntil': { $exists: true } },
          actorId,
        },
        { limit: LIVE_PER_ACTOR },
      );
      const isLive = found + count <= LIVE_PER_ACTOR;
      waiting.set(actorId, isLive ? found + count : LIVE_PER_ACTOR);
      if (!isLive) beyond.set(actorId, UNSEEN_BEYOND);
      return isLive ? 'LIVE' : 'BULK';
    },
  };
}

export type { Claim } from './fan-out-claim.ts';

/** A lane to claim from, and how many actions at most. */
export interface LaneRoom {
  readonly lane: Lane;
  /** At least 1. */
  readonly most: number;
}

const ONE_OF_ANY: readonly LaneRoom[] = LANES.map((lane) => ({ lane, most: 1 }));

export interface ClaimOptions {
  /** The most urgent first. Default: one action of any lane. */
  readonly lanes?: readonly LaneRoom[];
  /** Actions whose expired lease is not taken over, because this worker has them and is late to renew. */
  readonly except?: readonly ActionId[];
  /** Whether to take over expired leases. Default: true. */
  readonly takesOver?: boolean;
  /** Lease of what is taken over again and again: from the second time on it is doubled, up to this. Default: as of the others. */
  readonly longestLeaseMs?: number;
}

/** Claims of one lane with one token, oldest first. */
export interface FoundClaims {
  readonly claims: readonly Claim[];
  /** Nothing else was due in the requested lanes. */
  readonly isAll: boolean;
  /** Their leases had expired. */
  readonly areTakenOver: boolean;
}

/** Expired leases taken over at once, if there is no room for more. */
const MOST_TAKEN_OVER = 8;
/** A look begins at the beginning of its lane at least this often. */
const FROM_THE_BEGINNING_MS = 1_000;

/** How work is found and claimed. Part of the repository of fan-outs. */
function fanOutClaims(collection: Collection<ActionDocument>) {
  /** Two round trips for one action, three for several, one if there is none. */
  async function claimAs(
    state: 'PENDING' | 'IN_PROGRESS',
    find: () => Promise<Leased>,
    { token, now }: { readonly token: string; readonly now: Date },
  ): Promise<Omit<FoundClaims, 'areTakenOver'>> {
    for (;;) {
      const { ids, isAll, leaseMs } = await find();
      const [_id] = ids;
      if (_id === undefined) return { claims: [], isAll };
      const update = {
        $set: {
          'fanOut.state': 'IN_PROGRESS' as const,
          'fanOut.worker': token,
          'fanOut.leaseUntil': new Date(now.getTime() + leaseMs),
        },
        $inc: { 'fanOut.attempts': 1, 'fanOut.begun': 1 },
        $unset: { 'fanOut.nextLane': 1 as const, 'fanOut.nextLifts': 1 as const },
      };
      const due = dueIn(state, now);
      const one =
        ids.length > 1
          ? null
          : await collection.findOneAndUpdate({ ...due, _id }, unrevised(update), {
              returnDocument: 'after',
            });
      const documents = one === null ? [] : [one];
      if (ids.length > 1) {
        const all = { _id: { $in: [...ids] } };
        const { modifiedCount } = await collection.updateMany({ ...due, ...all }, unrevised(update));
        const claimed = collection.find({ ...all, 'fanOut.worker': token }).batchSize(ids.length);
        if (modifiedCount > 0) documents.push(...(await claimed.toArray()));
      }
      // Otherwise other workers have taken all of them.
      if (documents.length > 0)
        return { claims: documents.map((each) => claimOf(each, { token, leaseMs })), isAll };
    }
  }

  interface Found {
    readonly ids: readonly ObjectId[];
    readonly isAll: boolean;
  }
  type Leased = Found & { readonly leaseMs: number };
  type Candidates = readonly {
    readonly _id: ObjectId;
    readonly lane?: Lane;
    readonly due?: Date;
    readonly attempts?: number;
  }[];

  /** Where the last look ended in a lane that had more, and when one began at the beginning. */
  let reached: { readonly lane: Lane; readonly due: Date; readonly begun: Date } | null = null;

  /**
   * In one command, lane by lane until there are enough. Without a sort: the index `claim_by_lane` returns a lane's actions
   * in order of time, but asked to sort by a nested path, some engines would read all that wait.
   *
   * A lane that has more goes on where the last look ended: some engines keep what was claimed in the index for a while, and
   * would read all of it each time. What became due before that place (a write that took long, another clock) is found once
   * there is no more behind it, or after `FROM_THE_BEGINNING_MS`.
   */
  async function waiting(lanes: readonly LaneRoom[], now: Date): Promise<Found> {
    const isRecent = reached !== null && now.getTime() - reached.begun.getTime() < FROM_THE_BEGINNING_MS;
    const from = isRecent && lanes.some(({ lane }) => lane === reached?.lane) ? reached : null;
    const pipelines = lanes.map(({ lane, most }) => [
      { $match: { ...dueIn('PENDING', now, lane === from?.lane ? from.due : null), 'fanOut.lane': lane } },
      { $limit: most + 1 },
      { $project: { lane: '$fanOut.lane', due: '$fanOut.leaseUntil' } },
    ]);
    const limit = Math.max(...lanes.map(({ most }) => most)) + 1;
    const found: Candidates = await collection
      .aggregate<Candidates[number]>([...unionOf(collection, pipelines), { $limit: limit }], {
        hint: 'claim_by_lane',
        batchSize: limit,
      })
      .toArray();
    const { lane, most = 1 } = lanes.find((one) => found.some((each) => each.lane === one.lane)) ?? {};
    const ofLane = found.filter((one) => one.lane === lane);
    const due = ofLane[most]?.due;
    if (lane !== undefined && due !== undefined) {
      reached = { lane, due, begun: lane === from?.lane ? from.begun : now };
    } else if (from !== null && (lane === undefined || LANES.indexOf(lane) >= LANES.indexOf(from.lane))) {
      // Behind that place there is no more, and nothing more urgent waits.
      reached = null;
      return waiting(lanes, now);
    }
    const ids = ofLane.slice(0, most).map(({ _id }) => _id);
    return { ids, isAll: found.length <= most && found.length === ofLane.length };
  }

  /** Also without a sort. Of one lane, and claimed equally often. */
  async function expired(
    lanes: readonly LaneRoom[],
    except: readonly ActionId[],
    now: Date,
  ): Promise<Found & { readonly attempts: number }> {
    const others = except.length === 0 ? {} : { _id: { $nin: except.map((id) => new ObjectId(id)) } };
    const found: Candidates = await collection
      .find(
        { ...dueIn('IN_PROGRESS', now), 'fanOut.lane': { $in: [...LANES] }, ...others },
        upTo(Math.max(MOST_TAKEN_OVER, ...lanes.map(({ most }) => most))),
      )
      .hint('claim_by_lane')
      .project<Candidates[number]>({ lane: '$fanOut.lane', attempts: '$fanOut.attempts' })
      .toArray();
    const [first] = found;
    const ids = found.filter(({ lane, attempts }) => lane === first?.lane && attempts === first?.attempts);
    return { ids: ids.map(({ _id }) => _id), isAll: false, attempts: first?.attempts ?? 1 };
  }

  return {
    /**
     * Claims some actions with an expired lease, or else those of the most urgent lane that have waited longest. Two round
     * trips for one action, three for several, and one to find no expired lease. Index `claim_by_lane`.
     */
    async claim(
      token: string,
      now: Date,
      leaseMs: number,
      { lanes = ONE_OF_ANY, except = [], takesOver = true, longestLeaseMs = leaseMs }: ClaimOptions = {},
    ): Promise<FoundClaims> {
      if (takesOver) {
        const overdue = async (): Promise<Leased> => {
          const { attempts, ...found } = await expired(lanes, except, now);
          return {
            ...found,
            leaseMs: Math.min(Math.max(leaseMs, longestLeaseMs), leaseMs * 2 ** Math.max(0, attempts - 1)),
          };
        };
        const { claims } = await claimAs('IN_PROGRESS', overdue, { token, now });
        if (claims.length > 0) return { claims, isAll: false, areTakenOver: true };
      }
      if (lanes.length === 0) return { claims: [], isAll: true, areTakenOver: false };
      const due = async (): Promise<Leased> => {
        return { ...(await waiting(lanes, now)), leaseMs };
      };
      const found = await claimAs('PENDING', due, { token, now });
      return { ...found, areTakenOver: false };
    },

    /** When the next PENDING action becomes due. `null`: there is none. One round trip. Index `claim_by_lane`. */
    async nextDue(now: Date): Promise<Date | null> {
      const pipelines = LANES.map((lane) => [
        {
          $match: {
            ...{ 'fanOut.state': 'PENDING', 'fanOut.lane': lane },
            'fanOut.leaseUntil': { $exists: true, $gt: now },
          },
        },
        { $sort: { 'fanOut.leaseUntil': 1 } },
        { $limit: 1 },
        { $project: { _id: 0, due: '$fanOut.leaseUntil' } },
      ]);
      const found = await collection
        .aggregate<{ readonly due: Date }>(unionOf(collection, pipelines), {
          hint: 'claim_by_lane',
          batchSize: LANES.length + 1,
        })
        .toArray();
      const times = found.map(({ due }) => due.getTime());
      return times.length === 0 ? null : new Date(Math.min(...times));
    },
  };
}

/** The lease protocol of fan-outs: every write is conditional on its claim. */
export function fanOutsRepository(collection: Collection<ActionDocument>, events: EventEntries = NO_EVENTS) {
  return {
    ...fanOutEnds(collection, events),

    ...fanOutReleases(collection, events),

    ...liveShare(collection),

    ...fanOutClaims(collection),

    /**
     * Extends the lease and records the progress. Returns the lane, which may have become more urgent; `null`: the claim is
     * void, or the action has been hidden, shown again, deleted or readdressed meanwhile. Other changes do not end the pass,
     * since an action that is commented on constantly would never reach the end of its audience: at the end, the version
     * shows that another pass must follow.
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

    /** Tokens of claims that have not expired. Index `claim_by_lane`. */
    async ownClaims(): Promise<string[]> {
      const documents = await collection
        .find({ 'fanOut.state': 'IN_PROGRESS', 'fanOut.leaseUntil': { $exists: true } })
        .project<{ fanOut: { worker?: string } }>({ _id: 0, 'fanOut.worker': 1 })
        .toArray();
      return documents.flatMap(({ fanOut }) => fanOut.worker ?? []);
    },

    /**
     * Extends the lease of claims of one batch, measured from when the database executes it. Returns the actions still held:
     * an expired claim stays valid until somebody else claims the action. One round trip, two if some were lost.
     */
    async renew(claims: readonly [Claim, ...Claim[]], leaseMs: number): Promise<ReadonlySet<ActionId>> {
      const held = ownedByBatch(claims);
      const { matchedCount } = await collection.updateMany(
        held,
        unrevised([{ $set: { 'fanOut.leaseUntil': { $add: ['$$NOW', leaseMs] } } }]),
      );
      if (matchedCount === claims.length) return new Set(claims.map(({ action }) => action.id));
      const found = await collection.find(held).project<{ _id: ObjectId }>({ _id: 1 }).toArray();
      return new Set(found.map(({ _id }) => _id.toHexString()));
    },

    /** Records which refs are pulled. `false`: the claim is void, or the audience has changed. */
    async setPulled(claim: Claim, refIds: readonly RefId[]): Promise<boolean> {
      const result = await collection.updateOne(
        { ...ownedBy(claim), ...isSameAudience(claim) },
        revised(decided(refIds)),
      );
      return result.matchedCount === 1;
    },

    /**
     * Sets the reshares to those derived from the interactions, and requests another pass. `false`: the action changed since
     * the claim, and the pass for that will correct them.
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

    /** Writes values derived from the interactions, unless they have changed since the claim: then the next pass does. */
    async setEngagement(claim: Claim, engagement: Engagement, latest: Date): Promise<void> {
      await collection.updateOne(
        { ...ownedBy(claim), 'fanOut.version': claim.action.fanOut.version },
        revised({ $set: { engagement: engagementDocument(engagement) }, $max: { latest } }),
      );
    },

    /** Requests another pass that changes no feed but counts again, unless one is requested already. */
    async requestRecount(claim: Claim): Promise<void> {
      await collection.updateOne(
        { ...ownedBy(claim), 'fanOut.version': claim.action.fanOut.version },
        unrevised([{ $set: passRequested({ notBefore: clock.now(), lane: 'LIVE', lifts: {} }) }]),
      );
    },

    /**
     * Requests another pass over the action's current state: increments the version, and makes it PENDING unless a worker
     * has it, which will notice the new version at its end.
     */
    async requestPass(id: ActionId, now: Date, lane: Lane = DEFAULT_LANE): Promise<void> {
      await collection.updateOne(
        { _id: new ObjectId(id) },
        unrevised([{ $set: passRequested({ notBefore: now, lane }) }]),
      );
    },

    /**
     * For a worker that has lost its claim and may have written since: requests another pass if the action changed after the
     * claim. Otherwise the current worker writes the same. Also corrects deliveries to readers who are no longer in the
     * audience.
     */
    async requestPassAfter({ action, version, lane }: Claim, now: Date): Promise<void> {
      await collection.updateOne(
        { _id: new ObjectId(action.id), 'fanOut.version': { $gt: version } },
        unrevised([{ $set: { ...passRequested({ notBefore: now, lane }), 'fanOut.sweptRev': '$$REMOVE' } }]),
      );
    },

    /** Resets a FAILED fan-out to PENDING with no attempts. `null` when it is not FAILED. */
    async retry(id: ActionId, now: Date): Promise<Action | null> {
      const document = await collection.findOneAndUpdate(
        { _id: new ObjectId(id), 'fanOut.state': 'FAILED' },
        unrevised({
          $set: {
            'fanOut.state': 'PENDING',
            'fanOut.attempts': 0,
            'fanOut.leaseUntil': now,
          },
        }),
        { returnDocument: 'after' },
      );
      return document === null ? null : toAction(document);
    },
  };
}

/** `$exists` states the partial index's condition, since not every planner infers it from `$lte`. */
function dueIn(
  state: 'PENDING' | 'IN_PROGRESS',
  now: Date,
  from: Date | null = null,
): Filter<ActionDocument> {
  const range = { $exists: true, ...(from === null ? {} : { $gte: from }), $lte: now };
  return { 'fanOut.state': state, 'fanOut.leaseUntil': range };
}

function decided(pullRefIds: readonly RefId[]): UpdateFilter<ActionDocument> {
  return pullRefIds.length === 0
    ? { $unset: { pullRefIds: 1, undecidedRefIds: 1 } }
    : { $set: { pullRefIds: [...pullRefIds] }, $unset: { undecidedRefIds: 1 } };
}
