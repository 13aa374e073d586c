import type { UserId } from '../../domain/action.ts';
import type { UnreadFacts } from '../../domain/host-event.ts';
import type { DueDigest } from '../../storage/events/digests.ts';
import { clock } from '../../lib/clock.ts';
import { BackgroundWorker, type BackgroundWorkerOptions } from '../background-worker.ts';
import type { Repositories } from '../../storage/repositories.ts';

export interface DigestWorkerDependencies extends Pick<Repositories, 'digests' | 'eventOutbox'> {
  /** What the member would find unread, by the rules of the feed. Does not count as reading. */
  readonly countUnread: (memberId: UserId) => Promise<UnreadFacts>;
  /** Whether it is for this process to look. It does no harm where two do, and costs twice. */
  readonly mayLook: () => boolean;
  /** It is tried again in the next round. */
  readonly onError: (error: unknown) => void;
}

export interface DigestWorkerOptions extends BackgroundWorkerOptions {
  /** How long a reader has not read when they are reminded. */
  readonly afterMs: number;
}

const BATCH = 50;

/**
 * Records `digest.due` for readers to whom something came and who have not read since. The event is named by the reader and
 * by when it was due, so that it is one, however often it is tried.
 */
export class DigestWorker extends BackgroundWorker {
  readonly #dependencies: DigestWorkerDependencies;
  readonly #afterMs: number;

  constructor(dependencies: DigestWorkerDependencies, options: DigestWorkerOptions) {
    super(options);
    this.#dependencies = dependencies;
    this.#afterMs = options.afterMs;
  }

  /** Decides what is due by then, up to a batch. False: there was less. */
  async round(now: Date): Promise<boolean> {
    if (!this.#dependencies.mayLook()) return false;
    const due = await this.#dependencies.digests.due(now, BATCH);
    for (const one of due) {
      if (this.isStopping) return false;
      await this.#decide(one, now);
    }
    return due.length === BATCH;
  }

  protected override work(): Promise<boolean> {
    return this.round(clock.now());
  }

  protected override failed(error: unknown): void {
    this.#dependencies.onError(error);
  }

  async #decide(due: DueDigest, now: Date): Promise<void> {
    const { digests, eventOutbox, countUnread } = this.#dependencies;
    const earliest = (due.activeAt?.getTime() ?? 0) + this.#afterMs;
    if (earliest > now.getTime()) {
      await digests.postpone(due, new Date(earliest));
      return;
    }
    const unread = await countUnread(due.userId);
    if (unread.count > 0) await eventOutbox.putDigest(due, unread);
    await digests.settle(due, unread.count > 0 ? now : null);
  }
}
