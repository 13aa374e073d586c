import type { Context } from '../../../feed/context.ts';
import type { FoundRebuild, RebuildClaim } from '../store.ts';
import { StoreUnavailable } from '../../../storage/database/errors.ts';
import { holdLease } from '../../../fan-out/passes.ts';
import { LaneGate } from '../../../fan-out/lane-gate.ts';
import { Outage } from '../../../lib/outage.ts';
import { BackgroundWorker } from '../../../jobs/background-worker.ts';
import { rebuildStoredFeed, sweepFeed, type RebuildTurns } from '../../../feed/reconcile-feed.ts';
import { StretchGuess } from '../../../feed/source.ts';
import { TRIM_GRACE_MS } from '../../../feed/trim-feeds.ts';
import { clock } from '../../../lib/clock.ts';

/** How long a rebuild waits for a running fan-out to end. */
const POSTPONE_MS = 250;
/** Backoff while the feed store is away: the first, and the longest. */
const FIRST_OUTAGE_MS = 200;
const MAX_OUTAGE_MS = 5_000;

/** Concurrent rebuilds: the gate allows two bulk chunks at once, while another rebuild is being claimed or is ending. */
const SIDE_BY_SIDE = 3;

const IN_BULK = { lane: 'BULK', kind: 'rebuild' } as const;

export interface RebuildObserver {
  rebuilt(userId: string, seconds: number): void;
  /** The feed stays due and is retried when its lease expires, or when the feed store is back. */
  failed(error: unknown): void;
}

export interface RebuildWorkerOptions {
  /** Shared with other background work of the process. Default: a gate of its own. */
  readonly gate?: LaneGate;
  readonly observer: RebuildObserver;
  readonly leaseMs: number;
  readonly pollMs: number;
}

/**
 * Rebuilds several feeds concurrently, in any number of processes. An interrupted or repeated rebuild does no harm; a feed
 * that becomes due again is rebuilt once more.
 */
export class RebuildWorker extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: RebuildWorkerOptions;
  readonly #turns: RebuildTurns;
  readonly #outage = new Outage(FIRST_OUTAGE_MS, MAX_OUTAGE_MS);
  #claiming: Promise<unknown> = Promise.resolve();

  constructor(context: Context, options: RebuildWorkerOptions) {
    super({ pollMs: options.pollMs, workSignal: context.workSignal, work: 'rebuild' });
    const { gate = new LaneGate() } = options;
    this.#context = context;
    this.#turns = { inTurn: (chunk) => gate.run(IN_BULK, chunk), stretch: new StretchGuess() };
    this.#options = options;
  }

  protected override async work(): Promise<boolean> {
    if (this.#outage.waitMs > 0) return false;
    const failures: unknown[] = [];
    const found = await this.#oneAfterAnother(1, failures);
    const [first, ...others] = failures;
    if (failures.length === 0) return found;
    for (const other of others) if (String(other) !== String(first)) this.failed(other);
    throw first;
  }

  /**
   * Rebuilds due feeds one after another until there are none, or one fails. If others are due, too, starts a second such
   * loop beside it. Returns whether any was due.
   */
  async #oneAfterAnother(place: number, failures: unknown[]): Promise<boolean> {
    let beside: Promise<unknown> | null = null;
    let found = false;
    while (failures.length === 0 && !this.isStopping) {
      try {
        const claim = await this.#claim();
        if (claim === null) break;
        found = true;
        if (place < SIDE_BY_SIDE && !claim.isOnly)
          beside ??= this.#oneAfterAnother(place + 1, failures).finally(() => {
            beside = null;
          });
        await this.#rebuild(claim).catch((error: unknown) => this.#handBack(claim, error));
      } catch (error) {
        failures.push(error);
      }
    }
    await beside;
    return found;
  }

  /** One claim at a time: concurrent ones would find the same feed. */
  #claim(): Promise<FoundRebuild | null> {
    const { feeds } = this.#context;
    const claim = this.#claiming.then(() => feeds.claimDue(clock.now(), this.#options.leaseMs));
    this.#claiming = claim.catch(() => undefined);
    return claim;
  }

  protected override failed(error: unknown): void {
    this.#options.observer.failed(error);
  }

  /** Reschedules after a short backoff; a store outage is not counted as a failed attempt. */
  async #handBack(claim: RebuildClaim, error: unknown): Promise<never> {
    if (error instanceof StoreUnavailable) {
      const until = new Date(clock.time() + this.#outage.failed());
      await this.#context.feeds.postponeRebuild(claim, until, { wasCutOff: true });
    }
    throw error;
  }

  async #rebuild(claim: RebuildClaim): Promise<void> {
    const startedAt = performance.now();
    const { feeds, fanOuts } = this.#context;
    const { leaseMs } = this.#options;
    // Renewed however long it takes, otherwise another worker would take the rebuild for interrupted.
    using _lease = holdLease(() => feeds.renewRebuild(claim, leaseMs), leaseMs);
    // Passes that started before may have read the reader's old state, and may write after the feed has been examined.
    const older = new Set(await fanOuts.ownClaims());
    const floor = await rebuildStoredFeed(this.#context, claim, this.#turns);
    this.#outage.over();
    if (older.size > 0) {
      if ((await fanOuts.ownClaims()).some((token) => older.has(token))) {
        const { wasCutOff } = claim;
        await feeds.postponeRebuild(claim, new Date(clock.time() + POSTPONE_MS), { wasCutOff });
        return;
      }
      await sweepFeed(this.#context, claim.userId);
    }
    // Writes from before the interruption look as if they had always been there.
    if (claim.wasCutOff) await this.#context.liveLog.forget(claim.userId);
    const now = clock.now();
    await feeds.finishRebuild(claim, { floor, now, trimAt: new Date(now.getTime() + TRIM_GRACE_MS) });
    this.#options.observer.rebuilt(claim.userId, (performance.now() - startedAt) / 1_000);
  }
}
