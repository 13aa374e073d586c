import { PollLoop, type Next } from '../lib/poll-loop.ts';
import type { DueWork, WorkListener, WorkOffer, WorkSignal } from '../live/work-signal.ts';

export interface BackgroundWorkerOptions {
  /** Interval for polling when not woken. */
  readonly pollMs: number;
  /** Wakes the worker. Default: polling only. */
  readonly workSignal?: WorkSignal;
  /** Kind of work that wakes it. Default: any. */
  readonly work?: DueWork | 'any';
}

/** A lasting error, such as a full disk, is reported at this interval instead of at every attempt. */
const REPORT_EVERY_MS = 10_000;

/** Does work of one kind, piece by piece. Any number of processes may run one: claims decide who does what. */
export abstract class BackgroundWorker implements AsyncDisposable {
  readonly #loop: PollLoop;
  readonly #workSignal: WorkSignal | undefined;
  readonly #awaited: DueWork | 'any';
  #failures = 0;
  #listener: WorkListener | undefined;
  #reported: { readonly message: string; readonly at: number } | null = null;

  constructor({ pollMs, workSignal, work }: BackgroundWorkerOptions) {
    this.#workSignal = workSignal;
    this.#awaited = work ?? 'any';
    this.#loop = new PollLoop(() => this.#workOrFail(), pollMs);
  }

  start(): void {
    this.#listener ??= this.#workSignal?.onWork(this.#awaited, (offer) => this.offered(offer));
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

  /** Does one of several pieces. Reports its error like one of `work`. Resolves to whether it succeeded. */
  protected async apart(piece: () => Promise<unknown>): Promise<boolean> {
    try {
      await piece();
      return true;
    } catch (error) {
      this.#failures += 1;
      this.report(error);
      return false;
    }
  }

  async #workOrFail(): Promise<Next> {
    try {
      const failures = this.#failures;
      const next = await this.work();
      if (this.#failures === failures) this.#reported = null;
      return next;
    } catch (error) {
      this.report(error);
      return false;
    }
  }

  protected report(error: unknown): void {
    if (this.#isNews(String(error))) this.failed(error);
  }

  #isNews(message: string): boolean {
    const at = performance.now();
    if (this.#reported?.message === message && at - this.#reported.at < REPORT_EVERY_MS) return false;
    this.#reported = { message, at };
    return true;
  }
}
