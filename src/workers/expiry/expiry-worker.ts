import { clock } from '../../lib/clock.ts';
import type { WorkSignal } from '../../realtime/work-signal.ts';
import { BackgroundWorker } from '../background-worker.ts';
import { announceWithdrawal } from '../fan-out/announce-withdrawal.ts';
import type { WatchingAudienceDependencies } from '../fan-out/fan-out-dependencies.ts';
import type { Repositories } from '../../storage/repositories.ts';

export interface ExpiryDependencies extends WatchingAudienceDependencies, Pick<Repositories, 'moderation'> {
  readonly workSignal: Pick<WorkSignal, 'notify'>;
  readonly onError: (error: unknown) => void;
}

const BATCH = 100;

/**
 * Deletes actions when their time has come, in any number of processes: each is deleted by one of them, in one write. As
 * after any deletion, watchers are notified at once, and the pass that follows removes what is stored, or notifies them
 * where that was cut off.
 */
export class ExpiryWorker extends BackgroundWorker {
  readonly #dependencies: ExpiryDependencies;

  /** @param options.pollMs watchers hear of it by up to so much late. Reads go by the clock and wait for nothing. */
  constructor(dependencies: ExpiryDependencies, options: { readonly pollMs: number }) {
    super(options);
    this.#dependencies = dependencies;
  }

  /** Deletes what has expired by then, up to a batch. False: there was less. */
  async round(now: Date): Promise<boolean> {
    const { moderation, workSignal } = this.#dependencies;
    const ids = await moderation.expired(now, BATCH);
    for (const id of ids) {
      const action = await moderation.expire(id, now);
      if (action === null) continue;
      // Of what was hidden before watchers know already.
      if (!action.isHidden && (await announceWithdrawal(this.#dependencies, action, now)))
        await moderation.noteNotified(id, action.fanOut.version, now);
      workSignal.notify();
      if (this.isStopping) return false;
    }
    return ids.length === BATCH;
  }

  protected override work(): Promise<boolean> {
    return this.round(clock.now());
  }

  protected override failed(error: unknown): void {
    this.#dependencies.onError(error);
  }
}
