import { BackgroundWorker } from '../background-worker.ts';
import type { ErasureClaim } from '../../storage/privacy/erasures.ts';
import { runErasure, type RunErasureDependencies } from './run-erasure.ts';
import { clock } from '../../lib/clock.ts';

/** What a worker tells of its work, for logs; an erasure goes by its key, never by whose it is. */
export interface ErasureObserver {
  finished(claim: ErasureClaim, seconds: number): void;
  failed(claim: ErasureClaim, error: unknown): void;
  claimFailed(error: unknown): void;
}

export interface ErasureWorkerDependencies extends RunErasureDependencies {
  readonly observer: ErasureObserver;
}

/** How often to look, in milliseconds: by the clock alone, since erasures are few and none is urgent to the second. */
const POLL_MS = 5_000;

/** Brings erasures to their end that a request did not finish, and takes the second look. Any number of them may run. */
export class ErasureWorker extends BackgroundWorker {
  readonly #dependencies: ErasureWorkerDependencies;

  constructor(dependencies: ErasureWorkerDependencies, options: { readonly pollMs?: number } = {}) {
    super({ pollMs: options.pollMs ?? POLL_MS });
    this.#dependencies = dependencies;
  }

  protected override async work(): Promise<boolean> {
    const { erasures, observer, timing, newToken } = this.#dependencies;
    const claim = await erasures.claim({ token: newToken(), now: clock.now(), leaseMs: timing.leaseMs });
    if (claim === null) return false;
    const startedAt = performance.now();
    try {
      if (await runErasure(this.#dependencies, claim, () => this.isStopping))
        observer.finished(claim, (performance.now() - startedAt) / 1_000);
    } catch (error) {
      observer.failed(claim, error);
    }
    return true;
  }

  protected override failed(error: unknown): void {
    this.#dependencies.observer.claimFailed(error);
  }
}
