import { PollLoop, type Next } from '../lib/poll-loop.ts';
import type { DueWork, WorkListener, WorkOffer, WorkSignal } from '../realtime/work-signal.ts';
import type { DueKind, DueWorkRepository } from '../storage/due/due-work.ts';
import { clock } from '../lib/clock.ts';

/** Keeps notifications of due times within a second, including the work itself. */
const LONGEST_MS = 500;

/** Poll interval for work that becomes due by the clock and so has no signal: half of that for other work. */
export function pollByTheClockMs(pollMs: number): number {
  return Math.min(pollMs / 2, LONGEST_MS);
}

/** How long a look counts for all who ask: the polls of a process begin at about the same time. */
const SHARED_MS = 50;

/**
 * One look at the database for the workers of a process that have no signal. A worker searches only if there is something to
 * find, so that an idle process sends one command instead of one or more for each worker.
 */
export class DueLooks {
  readonly #dueWork: DueWorkRepository;
  #last: { readonly at: number; readonly kinds: Promise<ReadonlySet<DueKind>> } | null = null;

  constructor(dueWork: DueWorkRepository) {
    this.#dueWork = dueWork;
  }

  /** Whether anything of this kind was due at most 50 ms ago. Rejects with errors of the database. */
  async isDue(kind: DueKind): Promise<boolean> {
    const now = performance.now();
    if (this.#last === null || now - this.#last.at >= SHARED_MS)
      this.#last = { at: now, kinds: this.#dueWork.kinds(clock.now()) };
    return (await this.#last.kinds).has(kind);
  }
}

export interface BackgroundWorkerOptions {
  /** Interval for polling when not woken. */
  readonly pollMs: number;
  /** Wakes the worker. Default: polling only. */
  readonly workSignal?: WorkSignal;
  /** Kind of work that wakes it. Default: any. */
  readonly work?: DueWork;
  /** Asked at each poll: `false` if there is nothing to do, so that it does not look itself. Default: it looks. */
  readonly isDue?: () => Promise<boolean>;
}

/** A lasting error, such as a full disk, is reported at this interval instead of at every attempt. */
const REPORT_EVERY_MS = 10_000;

/** Does work of one kind, piece by piece. Any number of processes may run one: claims decide who does what. */
export abstract class BackgroundWorker implements AsyncDisposable {
  readonly #loop: PollLoop;
  readonly #workSignal: WorkSignal | undefined;
  readonly #awaited: DueWork | 'any';
  readonly #isDue: BackgroundWorkerOptions['isDue'];
  #hasMore = false;
  #failures = 0;
  #listener: WorkListener | undefined;
  #reported: { readonly message: string; readonly at: number } | null = null;

  constructor({ pollMs, workSignal, work, isDue }: BackgroundWorkerOptions) {
    this.#workSignal = workSignal;
    this.#awaited = work ?? 'any';
    this.#isDue = isDue;
    this.#loop = new PollLoop(() => this.#workOrFail(), pollMs);
  }

  start(): void {
    this.#listener ??= this.#workSignal?.onWork(this.#awaited, (offer) => {
      this.offered(offer);
    });
    this.#loop.start();
  }

  /** Resolves when the current piece has ended or released the rest of its work. Idempotent. */
  async stop(): Promise<void> {
    this.#listener?.[Symbol.dispose]();
    this.#listener = undefined;
    await this.#loop.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Lets work end early. */
  protected get isStopping(): boolean {
    return this.#loop.isStopping;
  }

  /** Work was announced. Unless overridden, every worker looks for it. */
  protected offered(_offer: WorkOffer): void {
    this.wake();
  }

  /** Announces work of the same kind to all other workers. */
  protected passOn(): void {
    this.#listener?.passOn();
  }

  /** Ends the wait for the next poll. */
  protected wake(): void {
    this.#loop.wake();
  }

  /** Does or starts one piece. `true`: continue at once. `false`: after `pollMs`. A number: after so many milliseconds. */
  protected abstract work(): Promise<Next>;

  /**
   * Reports an error of `work`; the worker tries again after `pollMs`. The same message is reported again after ten seconds
   * at the earliest, unless an attempt succeeded in between.
   */
  protected abstract failed(error: unknown): void;

  /** Does one of several pieces. An error is reported like one of `work` and returned, so that the others go on. */
  protected async apart(piece: () => Promise<unknown>): Promise<{ readonly error: unknown } | null> {
    try {
      await piece();
      return null;
    } catch (error) {
      this.#failures += 1;
      this.#report(error);
      return { error };
    }
  }

  async #workOrFail(): Promise<Next> {
    try {
      const failures = this.#failures;
      const isDue = this.#hasMore || this.#isDue === undefined || (await this.#isDue());
      const next = isDue && (await this.work());
      this.#hasMore = next === true;
      if (this.#failures === failures) this.#reported = null;
      return next;
    } catch (error) {
      this.#report(error);
      return false;
    }
  }

  #report(error: unknown): void {
    if (this.#isNews(String(error))) this.failed(error);
  }

  #isNews(message: string): boolean {
    const at = performance.now();
    if (this.#reported?.message === message && at - this.#reported.at < REPORT_EVERY_MS) return false;
    this.#reported = { message, at };
    return true;
  }
}
