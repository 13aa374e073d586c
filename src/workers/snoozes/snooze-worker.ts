import { clock } from '../../lib/clock.ts';
import { announce, type AnnounceDependencies } from '../../realtime/announce.ts';
import { BackgroundWorker, type BackgroundWorkerOptions } from '../background-worker.ts';
import type { Repositories } from '../../storage/repositories.ts';

export interface SnoozeWorkerDependencies extends AnnounceDependencies, Pick<Repositories, 'snoozes'> {
  readonly newToken: () => string;
  readonly onError: (error: unknown) => void;
}

const BATCH = 100;

/** Notifies watchers of ended snoozes; each is claimed by one process. Reads use the clock and are exact. */
export class SnoozeWorker extends BackgroundWorker {
  readonly #dependencies: SnoozeWorkerDependencies;
  readonly #leaseMs: number;

  /** @param options.pollMs maximum delay of notifications to watchers. */
  constructor(
    dependencies: SnoozeWorkerDependencies,
    options: Pick<BackgroundWorkerOptions, 'pollMs' | 'isDue'> & { readonly leaseMs: number },
  ) {
    super(options);
    this.#dependencies = dependencies;
    this.#leaseMs = options.leaseMs;
  }

  /** Claims one batch of snoozes ended by then. Returns false when there are no more. */
  async round(now: Date): Promise<boolean> {
    const { snoozes, newToken } = this.#dependencies;
    const claim = newToken();
    const ended = await snoozes.claimEnded(claim, now, this.#leaseMs, BATCH);
    if (ended.length === 0) return false;
    await announce(
      this.#dependencies,
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
    this.#dependencies.onError(error);
  }
}
