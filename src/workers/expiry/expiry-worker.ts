import type { Context } from '../../feeds/context.ts';
import type { ActionId } from '../../domain/action.ts';
import { clock } from '../../lib/clock.ts';
import { BackgroundWorker, type BackgroundWorkerOptions } from '../background-worker.ts';
import { announceWithdrawal } from '../fan-out/announce-withdrawal.ts';

export interface ExpiryOptions extends BackgroundWorkerOptions {
  readonly onError: (error: unknown) => void;
}

const BATCH = 100;

/**
 * Deletes actions when they expire. Any number of processes may run it: each action is deleted by one of them, in one write.
 * As after any deletion, watchers are notified at once; the following pass removes stored entries, and notifies watchers if
 * that was interrupted.
 */
export class ExpiryWorker extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: ExpiryOptions;

  /** @param options.pollMs maximum delay of notifications to watchers. Reads use the clock and are exact. */
  constructor(context: Context, options: ExpiryOptions) {
    super(options);
    this.#context = context;
    this.#options = options;
  }

  /** Deletes one batch of actions expired by then. Returns false when there are no more, or when one of them failed. */
  async round(now: Date): Promise<boolean> {
    const ids = await this.#context.moderation.expired(now, BATCH);
    let haveFailed = false;
    for (const id of ids) {
      if (await this.apart(() => this.#expire(id, now))) haveFailed = true;
      if (this.isStopping) return false;
    }
    return ids.length === BATCH && !haveFailed;
  }

  async #expire(id: ActionId, now: Date): Promise<void> {
    const { moderation, workSignal } = this.#context;
    const action = await moderation.expire(id, now);
    if (action === null) return;
    // Watchers were notified when the action was hidden.
    if (!action.isHidden && (await announceWithdrawal(this.#context, action, now)))
      await moderation.noteNotified(id, action.fanOut.version, now);
    workSignal.notify('fan-out');
  }

  protected override work(): Promise<boolean> {
    return this.round(clock.now());
  }

  protected override failed(error: unknown): void {
    this.#options.onError(error);
  }
}
