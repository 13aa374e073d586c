import type { Context } from '../../../feed/context.ts';
import type { UserId } from '../../../domain/action.ts';
import type { UnreadFacts } from '../../../domain/host-event.ts';
import type { DueDigest } from '../store/digests.ts';
import { clock } from '../../../lib/clock.ts';
import { BackgroundWorker, type BackgroundWorkerOptions } from '../../../jobs/background-worker.ts';

export interface DigestWorkerOptions extends BackgroundWorkerOptions {
  /** The member's unread count by the rules of the feed. Does not count as reading. */
  readonly countUnread: (memberId: UserId) => Promise<UnreadFacts>;
  /** Whether this process should look for due digests. Two at once are harmless, but cost twice as much. */
  readonly mayLook: () => boolean;
  /** A failed round is repeated after the poll interval. A reader whose count fails waits, and the others do not. */
  readonly onError: (error: unknown) => void;
  /** Inactivity after which a reader is reminded. */
  readonly afterMs: number;
}

const BATCH = 50;
/** Wait after a failed count. Readers whose counts always fail would otherwise fill every batch. */
const RETRY_MS = 5 * 60_000;

/**
 * Records `digest.due` for readers who received something and have not read since. The event id is derived from the reader
 * and the due time, so retries record it once.
 */
export class DigestWorker extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: DigestWorkerOptions;

  constructor(context: Context, options: DigestWorkerOptions) {
    super(options);
    this.#context = context;
    this.#options = options;
  }

  /** Handles one batch of digests due by then. Returns false when there are no more. */
  async round(now: Date): Promise<boolean> {
    if (!this.#options.mayLook()) return false;
    const due = await this.#context.digests.due(now, BATCH);
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
    this.#options.onError(error);
  }

  async #decide(due: DueDigest, now: Date): Promise<void> {
    const { digests, eventOutbox } = this.#context;
    const { afterMs, countUnread, onError } = this.#options;
    const earliest = (due.activeAt?.getTime() ?? 0) + afterMs;
    if (earliest > now.getTime()) {
      await digests.postpone(due, new Date(earliest));
      return;
    }
    const unread = await countUnread(due.userId).catch((error: unknown) => {
      onError(error);
      return null;
    });
    if (unread === null) {
      await digests.postpone(due, new Date(now.getTime() + RETRY_MS));
      return;
    }
    if (unread.count > 0) await eventOutbox.putDigest(due, unread);
    await digests.settle(due, unread.count > 0 ? now : null);
  }
}
