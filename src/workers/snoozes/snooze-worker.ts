import { newObjectId } from '../../storage/database/mongo.ts';
import type { Context } from '../../feeds/context.ts';
import { clock } from '../../lib/clock.ts';
import { announce } from '../../feeds/announce.ts';
import { BackgroundWorker, type BackgroundWorkerOptions } from '../background-worker.ts';

export interface SnoozeOptions extends BackgroundWorkerOptions {
  readonly leaseMs: number;
  readonly onError: (error: unknown) => void;
}

const BATCH = 100;

/** Notifies watchers of ended snoozes; each is claimed by one process. Reads use the clock and are exact. */
export class SnoozeWorker extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: SnoozeOptions;

  /** @param options.pollMs maximum delay of notifications to watchers. */
  constructor(context: Context, options: SnoozeOptions) {
    super(options);
    this.#context = context;
    this.#options = options;
  }

  /** Claims one batch of snoozes ended by then. Returns false when there are no more. */
  async round(now: Date): Promise<boolean> {
    const { snoozes } = this.#context;
    const claim = newObjectId();
    const ended = await snoozes.claimEnded(claim, now, this.#options.leaseMs, BATCH);
    if (ended.length === 0) return false;
    await announce(
      this.#context,
      ended.map(({ userId, actionId, until }) => ({
        userId,
        // The reasons, and whether the item is in the feed at all, are decided when the event is sent.
        event: { kind: 'added', actionId, relevancy: until, reasons: [] },
      })),
    );
    await snoozes.finishEnded(claim, ended);
    return ended.length === BATCH;
  }

  protected override work(): Promise<boolean> {
    return this.round(clock.now());
  }

  protected override failed(error: unknown): void {
    this.#options.onError(error);
  }
}
