import type { Context } from '../../feeds/context.ts';
import { clock } from '../../lib/clock.ts';
import { announceListChange } from '../../feeds/announce.ts';
import { BackgroundWorker, type BackgroundWorkerOptions } from '../background-worker.ts';

export interface MuteEndsOptions extends BackgroundWorkerOptions {
  readonly leaseMs: number;
  readonly onError: (error: unknown) => void;
}

const BATCH = 100;
/** After this margin the mute has ended by the clock of every process, so a read triggered by the event sees that. */
const MARGIN_MS = 250;

/** Sends `FeedResync` to watchers when one of their mutes ends. Reads use the clock and are exact. */
export class MuteEndsWorker extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: MuteEndsOptions;

  /** @param options.pollMs maximum delay of notifications to watchers. */
  constructor(context: Context, options: MuteEndsOptions) {
    super(options);
    this.#context = context;
    this.#options = options;
  }

  /** Announces one batch of mutes ended by then. Returns false when there are no more. */
  async round(now: Date): Promise<boolean> {
    const { feeds } = this.#context;
    const by = new Date(now.getTime() - MARGIN_MS);
    const due = await feeds.dueMuteEnds(by, BATCH);
    for (const { userId, wakeAt } of due) {
      const lease = new Date(now.getTime() + this.#options.leaseMs);
      if (!(await feeds.claimMuteEnd(userId, wakeAt, lease))) continue;
      await announceListChange(this.#context, [userId], 'mutes');
      await feeds.settleMuteEnds(userId, by);
      if (this.isStopping) return false;
    }
    return due.length === BATCH;
  }

  protected override work(): Promise<boolean> {
    return this.round(clock.now());
  }

  protected override failed(error: unknown): void {
    this.#options.onError(error);
  }
}
