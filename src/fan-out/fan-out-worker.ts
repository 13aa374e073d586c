import type { Context } from '../feed/context.ts';
import { DEFAULT_LANE, LANES } from '../domain/lane.ts';
import type { Claim, FoundClaims, LaneRoom } from './store/fan-outs.ts';
import { StoreUnavailable } from '../storage/database/errors.ts';
import { COALESCE_MS, MAX_REST_MS } from '../storage/stages/fan-out-stages.ts';
import type { HeldRoom, OwnWorker } from './own-worker.ts';
import type { WorkOffer } from '../live/work-signal.ts';
import { tracedEntry } from '../telemetry/tracing.ts';
import {
  type Batch,
  type Fence,
  type Lease,
  type PassOutcome,
  Passes,
  type Places,
  holdLease,
  type PassContext,
} from './passes.ts';
import { deliverTogether, openBatch, type Alone, type SmallDelivery } from './batch.ts';
import { LaneGate } from './lane-gate.ts';
import { BackgroundWorker } from '../jobs/background-worker.ts';
import { type Next } from '../lib/poll-loop.ts';
import { Outage } from '../lib/outage.ts';
import { clock } from '../lib/clock.ts';
import type { Action, ActionId } from '../domain/action.ts';
import { reachesFollowers } from '../domain/audience.ts';
import { deliverToAll } from './deliver.ts';
import { deriveFromInteractions } from './derive-counts.ts';
import { boost, boostsSince } from './boost-concerned.ts';
import { sweepHolders, notifyFormer } from './sweep-holders.ts';
import { announce, removals } from '../feed/announce.ts';
import { announceWithdrawalInPass, notAddressed } from './announce-withdrawal.ts';

/** Upper bound on the backoff of a failed fan-out. */
const MAX_BACKOFF_MS = 30_000;
const FIRST_BACKOFF_MS = 200;
/** Upper bound on the backoff while the feed store is away. */
const MAX_OUTAGE_MS = 5_000;
/** Offers remembered while the worker cannot look. The worker that takes a later one looks after all earlier ones. */
const MOST_OFFERS = 16;

export interface FanOutWorkerOptions {
  /** Unique among all workers. */
  readonly workerId: string;
  /** Lease of an action: another worker takes it over this long after the last renewal. */
  readonly leaseMs: number;
  /**
   * The longest, of actions that were taken over again and again, so that workers that are only slow do not take them from each
   * other. Default: `leaseMs`.
   */
  readonly longestLeaseMs?: number;
  /** After so many failed attempts a fan-out is FAILED. */
  readonly maxAttempts: number;
  /** Concurrent fan-outs per lane; small ones that are delivered together count as one. */
  readonly concurrency: number;
  readonly pollMs: number;
  /** Readers per chunk. */
  readonly chunkSize: number;
  /** The readers who can be skipped; see `audience.ts`. */
  readonly skipDormant: PassContext['skipDormant'];
  /** Returns a number from 0 to 1. Default: a random one. */
  readonly random?: () => number;
  /** Shared with other background work of the process. Default: a gate of its own. */
  readonly gate?: LaneGate;
  readonly observer: FanOutObserver;
}

/**
 * Claims fan-outs in batches, and runs their passes: first deliveries to small audiences together, everything else alone. Any
 * number of workers may run in any number of processes. A worker that dies loses nothing: its leases expire and others take
 * over. While the feed store is away, nothing can be delivered and nothing is given up: the worker backs off and tries again.
 */
export class FanOutWorker extends BackgroundWorker {
  readonly #context: PassContext;
  readonly #options: FanOutWorkerOptions;
  readonly #gate: LaneGate;
  readonly #passes: Passes;
  readonly #outage = new Outage(FIRST_BACKOFF_MS, MAX_OUTAGE_MS);
  #claims = 0;
  /** Latest time of the next poll, on the `performance.now()` clock. */
  #lookAt = 0;
  /** When something becomes due that this process has written, on the same clock. */
  #dueAt = Infinity;
  /** Time of the next search for expired leases. */
  #takeOverAt = 0;
  /** It has reason to look that other workers do not know of. */
  #mustLook = false;
  /** Announced since its last look began. */
  readonly #offers: WorkOffer[] = [];
  /** It has woken another worker since it was last idle. */
  #hasPassedOn = false;
  readonly #ownWorker: OwnWorker;
  #own: Disposable | undefined;

  constructor(context: Context & { readonly ownWorker: OwnWorker }, options: FanOutWorkerOptions) {
    super({ pollMs: options.pollMs, workSignal: context.workSignal, work: 'fan-out' });
    const { chunkSize, skipDormant, random = Math.random, gate = new LaneGate() } = options;
    this.#gate = gate;
    this.#context = { ...context, chunkSize, skipDormant, random, gate };
    this.#options = options;
    this.#ownWorker = context.ownWorker;
    this.#passes = new Passes(options.concurrency, () => this.#lookSoon());
  }

  override start(): void {
    super.start();
    this.#own ??= this.#ownWorker.add({
      hold: () => this.#holdRoom(),
      expect: (due) => this.#expect(due),
    });
  }

  /** Stops claiming, lets every running pass finish its chunk and releases the rest. Idempotent. */
  override async stop(): Promise<void> {
    this.#own?.[Symbol.dispose]();
    await super.stop();
    await this.#passes.allEnded();
    // For what it has released, and for an offer it may have taken and not looked for.
    this.#context.workSignal.notify('fan-out');
  }

  /** One of the workers that are waiting is enough, if it can run a pass of any lane. */
  protected override offered(offer: WorkOffer): void {
    this.#offers.push(offer);
    if (this.#offers.length > MOST_OFFERS) this.#offers.shift();
    this.wake();
  }

  /** Starts a batch if there is room for one. */
  protected override async work(): Promise<Next> {
    // A search that begins now also finds what was announced before.
    const offers = this.#offers.splice(0);
    const outageMs = this.#outage.waitMs;
    const lanes = this.#passes.lanesWithRoom();
    if (outageMs > 0 || lanes.length === 0) {
      this.#mustLook = true;
      // It is woken when a lane has room again.
      return outageMs > 0 ? outageMs : this.#options.pollMs;
    }
    // A worker with a full lane leaves offers to others, since it may not be able to run what they are for.
    const isDue = this.#mustLook || this.#waitMs() === 0 || lanes.length < LANES.length;
    if (isDue || (await this.#takesOneOf(offers))) {
      this.#mustLook = false;
      const next = await this.#search(lanes);
      if (next === true) this.#mustLook = true;
      else this.#hasPassedOn = false;
      return next;
    }
    return this.#waitMs();
  }

  #waitMs(): number {
    return Math.max(0, Math.min(this.#lookAt, this.#dueAt) - performance.now());
  }

  #expect(due: Date): void {
    this.#dueAt = Math.min(this.#dueAt, performance.now() + due.getTime() - clock.time());
    this.wake();
  }

  /** Not while it has reason to look: what waits already comes first, and many are claimed together for less. */
  #holdRoom(): HeldRoom | null {
    if (this.#mustLook || this.#offers.length > 0 || this.#outage.waitMs > 0) return null;
    const place = this.#passes.hold('LIVE');
    if (place === null) return null;
    return {
      claim: { token: this.#newToken(), leaseMs: this.#options.leaseMs },
      begin: (claims) => this.#begin(claims),
      [Symbol.dispose]: () => place[Symbol.dispose](),
    };
  }

  #newToken(): string {
    return `${this.#options.workerId}#${String(++this.#claims)}`;
  }

  async #takesOneOf(offers: readonly WorkOffer[]): Promise<boolean> {
    for (const offer of offers) if (await offer.take(!this.#passes.isEmpty)) return true;
    return false;
  }

  /** Wakes it, and has it look even if another worker has taken the offer. */
  #lookSoon(): void {
    this.#mustLook = true;
    this.wake();
  }

  async #search(lanes: readonly LaneRoom[]): Promise<Next> {
    const now = clock.now();
    if (performance.now() >= this.#dueAt) this.#dueAt = Infinity;
    const takesOver = performance.now() >= this.#takeOverAt;
    const { claims, isAll } = await this.#look(lanes, { now, takesOver });
    const [first, ...others] = claims;
    if (first !== undefined) this.#begin([first, ...others]);
    // More is due than one worker was woken for; the next one does the same.
    if (first !== undefined && !isAll && !this.#hasPassedOn) {
      this.#hasPassedOn = true;
      this.passOn();
    }
    // Claims come most urgent first: if its lane is full now, no more urgent one is due.
    const mayBeMore = first !== undefined && (this.#passes.hasRoomEverywhere || first.lane !== 'BULK');
    // Later publications send a signal.
    const areAll = first !== undefined && isAll && lanes.length === LANES.length;
    if (mayBeMore && !areAll) return true;
    if (first === undefined || areAll) await this.#lookAhead(now);
    return this.#waitMs();
  }

  protected override failed(error: unknown): void {
    this.#options.observer.claimFailed(error);
  }

  #begin(claims: Batch): void {
    const hasPriority = this.#gate.enter(claims[0].lane);
    this.#passes.add(claims, (places) =>
      this.#traced(claims, () => this.#run(claims, places)).finally(() => hasPriority[Symbol.dispose]()),
    );
  }

  /** The next claims. Expired leases are searched once per poll interval, however often the worker is woken. */
  async #look(
    lanes: readonly LaneRoom[],
    { now, takesOver }: { readonly now: Date; readonly takesOver: boolean },
  ): Promise<FoundClaims> {
    const { leaseMs, longestLeaseMs = leaseMs, pollMs } = this.#options;
    const startedAt = performance.now();
    const found = await this.#context.fanOuts.claim(this.#newToken(), now, leaseMs, {
      lanes,
      except: this.#passes.actions,
      ...{ takesOver, longestLeaseMs },
    });
    if (takesOver && !found.areTakenOver) this.#takeOverAt = startedAt + pollMs;
    return found;
  }

  /** Finds the next scheduled retry after `now`, the time of the last look, so that nothing falls between the two. */
  async #lookAhead(now: Date): Promise<void> {
    const { pollMs } = this.#options;
    const due = await this.#context.fanOuts.nextDue(now);
    const waitMs = due === null ? pollMs : Math.min(pollMs, due.getTime() - clock.time());
    this.#lookAt = performance.now() + waitMs;
  }

  /** Each action whose change was traced gets a span in its own trace; what the batch does belongs to the last of them. */
  #traced(claims: Batch, run: () => Promise<void>): Promise<void> {
    return claims.reduce<() => Promise<void>>((inner, { action: { id, fanOut }, lane }) => {
      const { trace } = fanOut;
      if (trace === undefined) return inner;
      const attributes = { 'fanfare.action': id, 'fanfare.lane': lane };
      return () => tracedEntry('fan-out', { parent: trace.parent, kind: 'consumer', attributes }, inner);
    }, run)();
  }

  async #run(claims: Batch, places: Places): Promise<void> {
    const held = new Map(claims.map((claim) => [claim.action.id, claim]));
    using lease = this.#holdLease(held, claims[0].leaseMs);
    const fenceOf = ({ action: { id } }: Claim): Fence => ({
      isHeld: async () => {
        await lease.isHeld();
        return held.has(id);
      },
      isStopping: () => this.isStopping,
      hasCompany: () => this.#passes.actions.length > 1,
    });
    const { together, alone } = await this.#open(claims);
    const begun = alone.slice(0, places.opened(together.length > 0, alone.length));
    await Promise.all([
      this.#handBack(alone.slice(begun.length).map(({ claim }) => claim)),
      this.#deliverTogether(together, fenceOf).finally(() => {
        if (together.length > 0) places.ended(true);
      }),
      ...begun.map((one) =>
        this.#runAlone(one, fenceOf(one.claim)).finally(() => {
          held.delete(one.claim.action.id);
          places.ended();
        }),
      ),
    ]);
  }

  /** One renewal for all that is under way. @param held those lost are taken out. */
  #holdLease(held: Map<ActionId, Claim>, leaseMs: number): Lease {
    return holdLease(async () => {
      const [first, ...others] = held.values();
      if (first === undefined) return true;
      const still = await this.#context.fanOuts.renew([first, ...others], leaseMs);
      for (const id of held.keys()) if (!still.has(id)) held.delete(id);
      return true;
    }, leaseMs);
  }

  /** If it fails, each goes alone, and those that fail again fail alone. */
  async #open(claims: Batch): ReturnType<typeof openBatch> {
    try {
      return await openBatch(this.#context, claims, this.#options.maxAttempts);
    } catch (error) {
      this.#options.observer.batchFailed(error);
      return { together: [], alone: claims.map((claim) => ({ claim })) };
    }
  }

  async #deliverTogether(
    groups: readonly (readonly SmallDelivery[])[],
    fenceOf: (claim: Claim) => Fence,
  ): Promise<void> {
    for (const group of groups) {
      try {
        await this.#deliverGroup(group, fenceOf);
        this.#outage.over();
      } catch (error) {
        const isAlone = group.length === 1 || error instanceof StoreUnavailable;
        if (!isAlone) this.#options.observer.batchFailed(error);
        await Promise.all(
          group.map(({ claim }) =>
            isAlone
              ? this.#giveUp(claim, error)
              : // Some of it may have been written.
                this.#runAlone({ claim: { ...claim, wasCutOff: true } }, fenceOf(claim)),
          ),
        );
      }
    }
  }

  async #deliverGroup(group: readonly SmallDelivery[], fenceOf: (claim: Claim) => Fence): Promise<void> {
    const startedAt = performance.now();
    const lane = group[0]?.claim.lane ?? DEFAULT_LANE;
    const outcome = await this.#gate.run({ lane, kind: 'fan-out' }, async () => {
      // The batch may have waited long for its turn.
      if (this.isStopping) return null;
      const areHeld = await Promise.all(group.map(({ claim }) => fenceOf(claim).isHeld()));
      const held = group.filter((_, index) => areHeld[index]);
      return { held, served: await deliverTogether(this.#context, held) };
    });
    if (outcome === null) return this.#handBack(group.map(({ claim }) => claim));
    const { held, served } = outcome;
    const passes = held.map(({ claim }, index) => ({ claim, delivered: served[index] ?? 0 }));
    const done = await this.#context.fanOuts.finish(passes);
    const seconds = (performance.now() - startedAt) / 1_000;
    const lost = group.filter((delivery) => !held.includes(delivery));
    await Promise.all([
      ...lost.map(({ claim }) => this.#end(claim, { kind: 'void', reached: null }, seconds)),
      ...passes.map(async ({ claim, delivered }) => {
        if (done.has(claim.action.id)) this.#finished(claim, { delivered, seconds, isDone: true });
        else await this.#end(claim, { kind: 'complete', delivered }, seconds);
      }),
    ]);
  }

  /** Hands back claims of a batch that is too much for this worker, or that has not begun when it stops. */
  async #handBack([first, ...others]: readonly Claim[]): Promise<void> {
    if (first === undefined) return;
    const { fanOuts } = this.#context;
    try {
      await fanOuts.release([first, ...others], { error: null, notBefore: clock.now(), ended: 'in-order' });
      this.#lookSoon();
      this.passOn();
    } catch (error) {
      // Their leases will expire, and another worker takes over.
      this.#options.observer.claimFailed(error);
    }
  }

  async #runAlone(alone: Alone, fence: Fence): Promise<void> {
    const { claim } = alone;
    const { maxAttempts } = this.#options;
    const startedAt = performance.now();
    try {
      if (claim.attempts > maxAttempts)
        throw new Error(`The worker died or lost its lease ${String(maxAttempts)} times`);
      const outcome = await runPass(this.#context, alone, fence);
      this.#outage.over();
      await this.#conclude(claim, outcome, (performance.now() - startedAt) / 1_000);
    } catch (error) {
      await this.#giveUp(claim, error);
    }
  }

  /** Like `#conclude`, for a pass whose failure is its own. */
  async #end(claim: Claim, outcome: PassOutcome, seconds: number): Promise<void> {
    try {
      await this.#conclude(claim, outcome, seconds);
    } catch (error) {
      await this.#giveUp(claim, error);
    }
  }

  #finished(claim: Claim, pass: { delivered: number; seconds: number; isDone: boolean }): void {
    this.#options.observer.finished(claim, { ...pass, lagSeconds: lagOf(claim) });
  }

  async #conclude(claim: Claim, outcome: PassOutcome, seconds: number): Promise<void> {
    const { fanOuts } = this.#context;
    const { observer } = this.#options;
    if (outcome.kind === 'complete') {
      const { delivered } = outcome;
      const isDone = await this.#finish(claim, delivered);
      if (isDone || (await this.#passOn(claim, delivered, seconds))) {
        this.#finished(claim, { delivered, seconds, isDone });
        return;
      }
    } else {
      const isHandedBack = await fanOuts.release([claim], {
        error: null,
        notBefore: clock.now(),
        ended: 'in-order',
      });
      this.#lookSoon();
      if (isHandedBack) {
        if (outcome.kind === 'void') observer.overtaken(claim);
        return;
      }
    }
    observer.leaseLost(claim);
    if (outcome.kind === 'void') await fanOuts.keepProgress(claim, outcome.reached);
    // Late writes of this pass may contradict a change that another worker has already delivered: one more pass corrects
    // them.
    await fanOuts.requestPassAfter(claim, clock.now());
  }

  /**
   * The action changed during the pass. Its next pass is delayed by the duration of this one, within bounds, so that an
   * action that changes constantly does not occupy a worker constantly.
   */
  async #passOn(claim: Claim, delivered: number, seconds: number): Promise<boolean> {
    const restMs = Math.min(MAX_REST_MS, Math.max(COALESCE_MS, seconds * 1_000));
    const notBefore = new Date(clock.time() + restMs);
    const isPassedOn = await this.#context.fanOuts.passOn(claim, { delivered, notBefore });
    this.#lookSoon();
    return isPassedOn;
  }

  async #finish(claim: Claim, delivered: number): Promise<boolean> {
    const { fanOuts, belongings, moderation, pins } = this.#context;
    const { id, isDeleted, refIds } = claim.action;
    // A change interrupted before it was logged has requested this pass, so it is logged here.
    if (claim.version > 1 && claim.lifts === null) await moderation.log(id);
    // This claim completed an interrupted pass for an older version.
    if (claim.version < claim.action.fanOut.version) return false;
    if (!isDeleted) return (await fanOuts.finish([{ claim, delivered }])).has(id);
    await belongings.purge(id);
    await pins.unpin(refIds, [id]);
    return fanOuts.tombstone(claim);
  }

  async #giveUp(claim: Claim, error: unknown): Promise<void> {
    const { fanOuts } = this.#context;
    const { observer } = this.#options;
    const isAway = error instanceof StoreUnavailable;
    const isLast = !isAway && claim.attempts >= this.#options.maxAttempts;
    const backoffMs = isAway
      ? this.#outage.failed()
      : Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (claim.attempts - 1));
    const reason = error instanceof Error ? error.message : String(error);
    const notBefore = new Date(clock.time() + backoffMs);
    let isFinal = isLast;
    try {
      if (isLast) isFinal = await fanOuts.giveUp(claim, { error: reason, notBefore });
      else await fanOuts.release([claim], { error: reason, notBefore, ended: isAway ? 'cut-off' : 'failed' });
    } catch (releaseError) {
      // The lease will expire, and another worker takes over.
      observer.claimFailed(releaseError);
    }
    observer.failed(claim, error, isFinal);
  }
}

export interface FanOutObserver {
  /**
   * @param pass.isDone false: the action changed during the pass, and another pass follows.
   * @param pass.lagSeconds time since the action was recorded; `null`: not its first delivery, or it was withdrawn.
   */
  finished(
    claim: Claim,
    pass: {
      readonly delivered: number;
      readonly seconds: number;
      readonly isDone: boolean;
      readonly lagSeconds: number | null;
    },
  ): void;
  /** The action was hidden, shown again or deleted during the pass: another pass follows. */
  overtaken(claim: Claim): void;
  /** The lease expired and another worker has claimed the action. */
  leaseLost(claim: Claim): void;
  failed(claim: Claim, error: unknown, isFinal: boolean): void;
  /** Actions could not be delivered together; each is delivered alone. */
  batchFailed(error: unknown): void;
  /** The database did not answer; the worker keeps trying. */
  claimFailed(error: unknown): void;
}

/** Compares database times only: the API that recorded the action may run on a machine with another clock. */
function lagOf({ action, isFirst }: Claim): number | null {
  if (!isFirst || action.isHidden || action.isDeleted) return null;
  return Math.max(0, clock.time() - action.recorded.getTime()) / 1_000;
}

/**
 * One pass: makes the feeds match the action as claimed. Visible: everybody in its audience has it and, after an edit of the
 * audience, nobody else, and nobody higher than it stands for them now. Hidden or deleted: nobody has it. Safe to interrupt anywhere and to repeat.
 */
async function runPass(
  dependencies: PassContext,
  { claim, audience }: Alone,
  fence: Fence,
): Promise<PassOutcome> {
  const { action } = claim;
  if (audience !== undefined) return deliverToAll(dependencies, { claim, interactions: [] }, fence, audience);
  if (action.isDeleted) return withdrawFromAll(dependencies, claim, fence);
  if (action.isHidden) {
    // Admins see its counts.
    const derived = await deriveFromInteractions(dependencies, claim);
    return derived === null ? { kind: 'void', reached: null } : withdrawFromAll(dependencies, claim, fence);
  }
  const decided = await withPulled(dependencies, claim);
  if (decided === null) return { kind: 'void', reached: null };
  const interactions = await deriveFromInteractions(dependencies, { ...claim, action: decided });
  if (interactions === null) return { kind: 'void', reached: null };
  const next = { claim: { ...claim, action: decided }, interactions };
  // A checkpoint is set only after all of this.
  if (claim.isUnswept && claim.afterUserId === null) {
    const outcome = await sweepHolders(dependencies, next, fence);
    if (outcome === 'void') return { kind: 'void', reached: null };
    if (outcome === 'stopped') return { kind: 'stopped' };
  }
  const boosts = await boostsSince(dependencies, next);
  if (boosts !== null) return boost(dependencies, next, boosts, fence);
  return deliverToAll(dependencies, next, fence);
}

/**
 * Decides once, in the first pass, which refs are pushed, so that no entry is both pushed and pulled. `null`: the claim is
 * void.
 */
async function withPulled({ pulledRefs, fanOuts }: PassContext, claim: Claim): Promise<Action | null> {
  const { action, afterUserId, undecidedRefIds } = claim;
  const isBegun = afterUserId !== null || action.fanOut.delivered > 0 || action.pullRefIds.length > 0;
  const undecided = isBegun ? undecidedRefIds : action.refIds;
  if (undecided.length === 0 || !reachesFollowers(action)) return action;
  const active = await pulledRefs.active(clock.now());
  const added = undecided.filter((refId) => active.has(refId));
  if (added.length === 0 && undecidedRefIds.length === 0) return action;
  const pullRefIds = [...new Set([...action.pullRefIds, ...added])];
  return (await fanOuts.setPulled(claim, pullRefIds)) ? { ...action, pullRefIds } : null;
}

/** Watchers in the audience were notified at its commit. Readers who have it for a past reason are notified at removal. */
async function withdrawFromAll(dependencies: PassContext, claim: Claim, fence: Fence): Promise<PassOutcome> {
  const { feedStore, chunkSize, gate } = dependencies;
  const { action, unnotifiedVersion } = claim;
  if (unnotifiedVersion !== null) await announceWithdrawalInPass(dependencies, action, clock.now());
  await notifyFormer(dependencies, claim);
  for (;;) {
    if (!(await fence.isHeld())) return { kind: 'void', reached: null };
    if (fence.isStopping()) return { kind: 'stopped' };
    const count = await gate.run({ lane: claim.lane, kind: 'fan-out' }, async () => {
      const userIds = await feedStore.holders(action.id, { limit: chunkSize });
      // Notify before removing: a worker that dies in between notifies again. The rules already hide the action.
      const untold = await notAddressed(dependencies, action, userIds);
      await announce(dependencies, removals(action.id, untold, clock.now()));
      await feedStore.remove(userIds, [action.id]);
      return userIds.length;
    });
    if (count < chunkSize) return { kind: 'complete', delivered: 0 };
  }
}
