import type { Claim, FanOutsRepository } from '../storage/fan-outs.ts';
import { StoreUnavailable } from '../storage/errors.ts';
import { COALESCE_MS } from '../storage/fan-out-stages.ts';
import type { HiddenItemsRepository } from '../storage/hidden-items.ts';
import type { InteractionsRepository } from '../storage/interactions.ts';
import type { ModerationRepository } from '../storage/moderation.ts';
import type { WorkSignal } from '../realtime/work-signal.ts';
import { runPass, type DeliverDependencies, type PassOutcome } from './deliver.ts';
import { holdLease } from './lease.ts';
import { Gate } from '../lib/gate.ts';
import { Outage } from '../lib/outage.ts';
import { WakeUp } from '../lib/wake-up.ts';

/** Longest wait before a failed fan-out is tried again. */
const MAX_BACKOFF_MS = 30_000;
const FIRST_BACKOFF_MS = 200;
/** Longest wait before the store of the feeds is tried again while it is away. */
const MAX_OUTAGE_MS = 5_000;
/** Chunks of all passes that are delivered at the same time: more of them only wait for each other in the database. */
const SLOTS = 12;

/** What a worker tells of its work, for logs and metrics. */
export interface FanOutObserver {
  finished(claim: Claim, delivered: number, seconds: number): void;
  /** The action changed or the lease was lost: another pass follows. */
  voided(claim: Claim): void;
  failed(claim: Claim, error: unknown, isFinal: boolean): void;
  /** The database did not answer; the worker goes on trying. */
  claimFailed(error: unknown): void;
}

export interface WorkerOptions {
  /** Unique among all workers. */
  readonly workerId: string;
  readonly leaseMs: number;
  /** After so many attempts a fan-out is FAILED. */
  readonly maxAttempts: number;
  /** Fan-outs at the same time. */
  readonly concurrency: number;
  /** How often to look without having been woken. */
  readonly pollMs: number;
}

export interface WorkerDependencies extends Omit<DeliverDependencies, 'slots'> {
  readonly fanOuts: Pick<
    FanOutsRepository,
    | 'claim'
    | 'nextDue'
    | 'checkpoint'
    | 'setEngagement'
    | 'setPulled'
    | 'renew'
    | 'finish'
    | 'bury'
    | 'release'
    | 'requestPass'
  >;
  readonly interactions: Pick<InteractionsRepository, 'summaries' | 'purgeAction'>;
  readonly hiddenItems: Pick<HiddenItemsRepository, 'purgeAction'>;
  readonly moderation: Pick<ModerationRepository, 'log'>;
  readonly workSignal: Pick<WorkSignal, 'onWork'>;
  readonly observer: FanOutObserver;
}

/**
 * Takes fan-outs from the database, one lease each, and runs their passes. Any number of workers may run in any
 * number of processes. A worker that dies loses nothing: its leases expire and others take over. While the store of the
 * feeds is away nothing can be delivered and nothing is given up: the worker waits, and tries again now and then.
 */
export class FanOutWorker implements AsyncDisposable {
  readonly #dependencies: WorkerDependencies & DeliverDependencies;
  readonly #options: WorkerOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #wakeUp = new WakeUp();
  readonly #outage = new Outage(FIRST_BACKOFF_MS, MAX_OUTAGE_MS);
  #subscription: Disposable | null = null;
  #loop: Promise<void> | null = null;
  #isStopping = false;
  #claims = 0;

  constructor(dependencies: WorkerDependencies, options: WorkerOptions) {
    this.#dependencies = { ...dependencies, slots: new Gate(SLOTS) };
    this.#options = options;
  }

  start(): void {
    if (this.#loop !== null) return;
    this.#subscription = this.#dependencies.workSignal.onWork(() => {
      this.#wakeUp.wake();
    });
    this.#loop = this.#takeWork();
  }

  /** Takes no more work, lets every running pass end its chunk and hands the rest back. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#subscription?.[Symbol.dispose]();
    this.#subscription = null;
    this.#wakeUp.wake();
    await this.#loop;
    await Promise.all(this.#running);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #takeWork(): Promise<void> {
    while (!this.#isStopping) {
      if (this.#outage.waitMs > 0) {
        await this.#wakeUp.wait(this.#outage.waitMs);
        continue;
      }
      const claim = await this.#look();
      if (typeof claim === 'number') {
        await this.#wakeUp.wait(claim);
        continue;
      }
      const run = this.#run(claim).finally(() => this.#running.delete(run));
      this.#running.add(run);
      if (this.#running.size >= this.#options.concurrency) await Promise.race(this.#running);
    }
  }

  /** The next claim, or for how many milliseconds there is nothing to do, as far as is known: until what was put off is due. */
  async #look(): Promise<Claim | number> {
    const { fanOuts, observer } = this.#dependencies;
    const { workerId, leaseMs, pollMs } = this.#options;
    const now = new Date();
    try {
      const claim = await fanOuts.claim(`${workerId}#${String(++this.#claims)}`, now, leaseMs);
      if (claim !== null) return claim;
      // From the same moment on: what comes due between the two is not to be missed by both.
      const due = await fanOuts.nextDue(now);
      return due === null ? pollMs : Math.min(pollMs, Math.max(0, due.getTime() - Date.now()));
    } catch (error) {
      observer.claimFailed(error);
      return pollMs;
    }
  }

  async #run(claim: Claim): Promise<void> {
    const { fanOuts, observer } = this.#dependencies;
    const { maxAttempts, leaseMs } = this.#options;
    const startedAt = performance.now();
    const lease = holdLease(fanOuts, claim, leaseMs);
    try {
      if (claim.attempts > maxAttempts)
        throw new Error(`The worker died or lost its lease ${String(maxAttempts)} times`);
      const outcome = await runPass(this.#dependencies, claim, {
        isHeld: () => lease.isHeld(),
        isStopping: () => this.#isStopping,
      });
      this.#outage.over();
      if (await this.#conclude(claim, outcome)) {
        const delivered = outcome.kind === 'complete' ? outcome.delivered : 0;
        observer.finished(claim, delivered, (performance.now() - startedAt) / 1_000);
      }
    } catch (error) {
      await this.#giveUp(claim, error);
    } finally {
      lease[Symbol.dispose]();
    }
  }

  /** Writes the end of a pass. True when the fan-out is DONE. */
  async #conclude(claim: Claim, outcome: PassOutcome): Promise<boolean> {
    const { fanOuts, observer } = this.#dependencies;
    if (outcome.kind === 'complete' && (await this.#finish(claim, outcome.delivered))) return true;
    const now = new Date();
    const isHandedBack = await fanOuts.release(claim, {
      state: 'PENDING',
      error: null,
      notBefore: outcome.kind === 'stopped' ? now : new Date(now.getTime() + COALESCE_MS),
      ended: 'in-order',
    });
    this.#wakeUp.wake();
    // Somebody else holds the action now. What this pass wrote late may contradict theirs: one more pass mends it.
    if (!isHandedBack) await fanOuts.requestPass(claim.action.id, now);
    if (outcome.kind !== 'stopped') observer.voided(claim);
    return false;
  }

  async #finish(claim: Claim, delivered: number): Promise<boolean> {
    const { fanOuts, interactions, hiddenItems, moderation } = this.#dependencies;
    const { id, isDeleted } = claim.action;
    // A change that was cut off before it was logged is logged here, since it asked for this pass.
    if (claim.version > 1) await moderation.log(id);
    if (!isDeleted) return fanOuts.finish(claim, delivered);
    await interactions.purgeAction(id);
    await hiddenItems.purgeAction(id);
    return fanOuts.bury(claim);
  }

  async #giveUp(claim: Claim, error: unknown): Promise<void> {
    const { fanOuts, observer } = this.#dependencies;
    const isAway = error instanceof StoreUnavailable;
    const isFinal = !isAway && claim.attempts >= this.#options.maxAttempts;
    const backoffMs = isAway
      ? this.#outage.failed()
      : Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (claim.attempts - 1));
    observer.failed(claim, error, isFinal);
    try {
      await fanOuts.release(claim, {
        state: isFinal ? 'FAILED' : 'PENDING',
        error: error instanceof Error ? error.message : String(error),
        notBefore: new Date(Date.now() + backoffMs),
        ended: isAway ? 'cut-off' : 'failed',
      });
    } catch (releaseError) {
      // The lease will expire and the fan-out be taken over.
      observer.claimFailed(releaseError);
    }
  }
}
