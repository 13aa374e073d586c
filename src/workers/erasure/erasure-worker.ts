import { BackgroundWorker } from '../background-worker.ts';
import type { ErasureClaim } from '../../storage/privacy/erasures.ts';
import { runErasure, type RunErasureDependencies } from './run-erasure.ts';
import { clock } from '../../lib/clock.ts';

/** Events for logs. An erasure is identified by its key, never by its member. */
export interface ErasureObserver {
  finished(claim: ErasureClaim, seconds: number): void;
  failed(claim: ErasureClaim, error: unknown): void;
  claimFailed(error: unknown): void;
}

export interface ErasureWorkerDependencies extends RunErasureDependencies {
  /** Called when members were erased and no more are waiting. Default: nothing. */
  readonly forgetDeleted?: () => Promise<void>;
  readonly observer: ErasureObserver;
}

/** Poll interval in milliseconds. There is no signal, since erasures are few and not urgent to the second. */
const POLL_MS = 5_000;

/** Completes erasures that a request did not finish, and runs the second pass. Any number may run. */
export class ErasureWorker extends BackgroundWorker {
  readonly #dependencies: ErasureWorkerDependencies;
  #hasErased = false;

  constructor(dependencies: ErasureWorkerDependencies, options: { readonly pollMs?: number } = {}) {
    super({ pollMs: options.pollMs ?? POLL_MS });
    this.#dependencies = dependencies;
  }

  protected override async work(): Promise<boolean> {
    const { erasures, observer, timing, newToken } = this.#dependencies;
    const claim = await erasures.claim({ token: newToken(), now: clock.now(), leaseMs: timing.leaseMs });
    if (claim === null) {
      if (this.#hasErased) await this.#dependencies.forgetDeleted?.();
      this.#hasErased = false;
      return false;
    }
    const startedAt = performance.now();
    try {
      if (await runErasure(this.#dependencies, claim, () => this.isStopping)) {
        if (claim.state === 'CONFIRMING') this.#hasErased = true;
        observer.finished(claim, (performance.now() - startedAt) / 1_000);
      }
    } catch (error) {
      observer.failed(claim, error);
    }
    return true;
  }

  protected override failed(error: unknown): void {
    this.#dependencies.observer.claimFailed(error);
  }
}
