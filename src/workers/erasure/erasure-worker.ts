import { PollLoop } from '../../lib/poll-loop.ts';
import type { ErasureClaim, ErasuresRepository } from '../../storage/erasures.ts';
import { runErasure, type RunErasureDependencies } from './run-erasure.ts';
import { clock } from '../../lib/clock.ts';

/** What a worker tells of its work, for logs; an erasure goes by its key, never by whose it is. */
export interface ErasureObserver {
  /** A round came to its end. */
  finished(claim: ErasureClaim, seconds: number): void;
  failed(claim: ErasureClaim, error: unknown): void;
  /** The database did not answer; the worker goes on trying. */
  claimFailed(error: unknown): void;
}

export interface ErasureWorkerDependencies extends RunErasureDependencies {
  readonly erasures: RunErasureDependencies['erasures'] & Pick<ErasuresRepository, 'claim'>;
  readonly observer: ErasureObserver;
}

/** How often to look, in milliseconds: by the clock alone, since erasures are few and none is urgent to the second. */
const POLL_MS = 5_000;

/** Brings erasures to their end that a request did not finish, and takes the second look. Any number of them may run. */
export class ErasureWorker implements AsyncDisposable {
  readonly #dependencies: ErasureWorkerDependencies;
  readonly #loop: PollLoop;

  constructor(dependencies: ErasureWorkerDependencies, options: { readonly pollMs?: number } = {}) {
    this.#dependencies = dependencies;
    this.#loop = new PollLoop(() => this.#runNext(), options.pollMs ?? POLL_MS);
  }

  start(): void {
    this.#loop.start();
  }

  /** Lets the batch under way end and hands the rest back. Idempotent. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** False when there was nothing to do. */
  async #runNext(): Promise<boolean> {
    const { erasures, observer, timing, newToken } = this.#dependencies;
    let claim: ErasureClaim | null;
    try {
      claim = await erasures.claim({ token: newToken(), now: clock.now(), leaseMs: timing.leaseMs });
    } catch (error) {
      observer.claimFailed(error);
      return false;
    }
    if (claim === null) return false;
    const startedAt = performance.now();
    try {
      if (await runErasure(this.#dependencies, claim, () => this.#loop.isStopping))
        observer.finished(claim, (performance.now() - startedAt) / 1_000);
    } catch (error) {
      observer.failed(claim, error);
    }
    return true;
  }
}
