import { BackgroundWorker } from '../../../jobs/background-worker.ts';
import type { ErasureClaim } from '../store/erasures.ts';
import { newObjectId } from '../../../storage/database/mongo.ts';
import type { Context } from '../../../feed/context.ts';
import { runErasure } from './run-erasure.ts';
import { clock } from '../../../lib/clock.ts';

/** Events for logs. An erasure is identified by its key, never by its member. */
export interface ErasureObserver {
  finished(claim: ErasureClaim, seconds: number): void;
  failed(claim: ErasureClaim, error: unknown): void;
  claimFailed(error: unknown): void;
}

export interface ErasureWorkerOptions {
  readonly observer: ErasureObserver;
  readonly pollMs?: number;
}

/** Poll interval in milliseconds. There is no signal, since erasures are few and not urgent to the second. */
const POLL_MS = 5_000;

/** Completes erasures that a request did not finish, and runs the second pass. Any number may run. */
export class ErasureWorker extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: ErasureWorkerOptions;
  #hasErased = false;

  constructor(context: Context, options: ErasureWorkerOptions) {
    super({ pollMs: options.pollMs ?? POLL_MS });
    this.#context = context;
    this.#options = options;
  }

  protected override async work(): Promise<boolean> {
    const { erasures, forgetDeleted, erasureTiming } = this.#context;
    const { observer } = this.#options;
    const claim = await erasures.claim({
      token: newObjectId(),
      now: clock.now(),
      leaseMs: erasureTiming.leaseMs,
    });
    if (claim === null) {
      if (this.#hasErased) await forgetDeleted();
      this.#hasErased = false;
      return false;
    }
    const startedAt = performance.now();
    try {
      if (await runErasure(this.#context, claim, () => this.isStopping)) {
        if (claim.state === 'CONFIRMING') this.#hasErased = true;
        observer.finished(claim, (performance.now() - startedAt) / 1_000);
      }
    } catch (error) {
      observer.failed(claim, error);
    }
    return true;
  }

  protected override failed(error: unknown): void {
    this.#options.observer.claimFailed(error);
  }
}
