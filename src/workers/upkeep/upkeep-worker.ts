import type { Context } from '../../feeds/context.ts';
import { PULL_NOTICE_MS } from '../../storage/follows/pulled-refs.ts';
import { BackgroundWorker } from '../background-worker.ts';
import { trimDue } from '../../feeds/trim-feeds.ts';
import { clock } from '../../lib/clock.ts';
import { dropDormant, type DropAfter } from './drop-dormant.ts';
import { settleAbandonedFollows } from './settle-abandoned-follows.ts';
import { settleAbandonedInteractions } from './settle-abandoned-interactions.ts';

export interface UpkeepOptions extends DropAfter {
  /** Refs with more followers than this are pulled. */
  readonly celebrityThreshold: number;
  readonly onError: (error: unknown) => void;
}

const EVERY_MS = 5_000;
const DROP_EVERY_MS = 3_600_000;

/**
 * Maintains feeds beside deliveries, in any number of processes: decides which refs are pulled, completes interrupted follows
 * and interactions, and lets the store delete entries below the floors and feeds that nobody reads. All of it is idempotent.
 */
export class UpkeepWorker extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: UpkeepOptions;
  #dropAt = 0;

  constructor(context: Context, options: UpkeepOptions) {
    super({ pollMs: EVERY_MS });
    this.#context = context;
    this.#options = options;
  }

  /** @param noticeMs how long in advance a ref is marked as going to be pulled; see `pulled-refs.ts`. */
  async round(now: Date, noticeMs: number = PULL_NOTICE_MS): Promise<void> {
    const { refs } = this.#context;
    const { celebrityThreshold } = this.#options;
    const startedAt = performance.now();
    await this.apart(() => settleAbandonedFollows(this.#context, now));
    await this.apart(() => settleAbandonedInteractions(this.#context, now));
    await this.apart(() => refs.choosePulled(celebrityThreshold, new Date(now.getTime() + noticeMs)));
    await this.apart(async () => {
      while (!this.isStopping && (await trimDue(this.#context, now)) > 0);
    });
    if (performance.now() < this.#dropAt) return;
    const nowOf = (): Date => new Date(now.getTime() + performance.now() - startedAt);
    const drop = () => dropDormant(this.#context, this.#options, nowOf, () => this.isStopping);
    if ((await this.apart(drop)) === null) this.#dropAt = performance.now() + DROP_EVERY_MS;
  }

  protected override async work(): Promise<boolean> {
    await this.round(clock.now());
    return false;
  }

  protected override failed(error: unknown): void {
    this.#options.onError(error);
  }
}
