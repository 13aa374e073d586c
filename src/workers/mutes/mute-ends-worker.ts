import { clock } from '../../lib/clock.ts';
import { announceListChange, type AnnounceDependencies } from '../../realtime/announce.ts';
import { BackgroundWorker, type BackgroundWorkerOptions } from '../background-worker.ts';
import type { Repositories } from '../../storage/repositories.ts';

export interface MuteEndsDependencies extends AnnounceDependencies, Pick<Repositories, 'feeds'> {
  readonly onError: (error: unknown) => void;
}

const BATCH = 100;
/** After this margin the mute has ended by the clock of every process, so a read triggered by the event sees that. */
const MARGIN_MS = 250;

/** Sends `FeedResync` to watchers when one of their mutes ends. Reads use the clock and are exact. */
export class MuteEndsWorker extends BackgroundWorker {
  readonly #dependencies: MuteEndsDependencies;
  readonly #leaseMs: number;

  /** @param options.pollMs maximum delay of notifications to watchers. */
  constructor(
    dependencies: MuteEndsDependencies,
    options: Pick<BackgroundWorkerOptions, 'pollMs' | 'isDue'> & { readonly leaseMs: number },
  ) {
    super(options);
    this.#dependencies = dependencies;
    this.#leaseMs = options.leaseMs;
  }

  /** Announces one batch of mutes ended by then. Returns false when there are no more. */
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
