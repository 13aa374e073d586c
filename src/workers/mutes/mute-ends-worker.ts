import { clock } from '../../lib/clock.ts';
import { announceListChange, type AnnounceDependencies } from '../../realtime/announce.ts';
import { BackgroundWorker } from '../background-worker.ts';
import type { Repositories } from '../../storage/repositories.ts';

export interface MuteEndsDependencies extends AnnounceDependencies, Pick<Repositories, 'feeds'> {
  readonly onError: (error: unknown) => void;
}

const BATCH = 100;
/** By then the mute has ended by the clock of every process: who reads because of the event finds it ended. */
const MARGIN_MS = 250;

/** Sends `FeedResync` to watchers when one of their mutes ends. Reads go by the clock and wait for nothing. */
export class MuteEndsWorker extends BackgroundWorker {
  readonly #dependencies: MuteEndsDependencies;
  readonly #leaseMs: number;

  /** @param options.pollMs watchers hear of it by up to so much late. */
  constructor(
    dependencies: MuteEndsDependencies,
    options: { readonly leaseMs: number; readonly pollMs: number },
  ) {
    super(options);
    this.#dependencies = dependencies;
    this.#leaseMs = options.leaseMs;
  }

  /** Announces what has ended by then, up to a batch. False: there was less. */
  async round(now: Date): Promise<boolean> {
    const { feeds } = this.#dependencies;
    const by = new Date(now.getTime() - MARGIN_MS);
    const due = await feeds.dueMuteEnds(by, BATCH);
    for (const { userId, wakeAt } of due) {
      const lease = new Date(now.getTime() + this.#leaseMs);
      if (!(await feeds.claimMuteEnd(userId, wakeAt, lease))) continue;
      await announceListChange(this.#dependencies, [userId], 'mutes');
      await feeds.settleMuteEnds(userId, by);
      if (this.isStopping) return false;
    }
    return due.length === BATCH;
  }

  protected override work(): Promise<boolean> {
    return this.round(clock.now());
  }

  protected override failed(error: unknown): void {
    this.#dependencies.onError(error);
  }
}
