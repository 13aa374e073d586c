import { PollLoop, type Next } from '../lib/poll-loop.ts';
import type { WorkSignal } from '../realtime/work-signal.ts';

export interface BackgroundWorkerOptions {
  /** How often to look for work without having been woken. */
  readonly pollMs: number;
  /** Wakes the worker. Default: it looks by the clock alone. */
  readonly workSignal?: Pick<WorkSignal, 'onWork'>;
}

/** A cause that lasts, such as a full disk, is reported this often and not at every attempt. */
const REPORT_EVERY_MS = 10_000;

/** Does work of one kind, piece by piece. Any number of processes may: claims decide who does what. */
export abstract class BackgroundWorker implements AsyncDisposable {
  readonly #loop: PollLoop;
  readonly #workSignal: Pick<WorkSignal, 'onWork'> | undefined;
  #subscription: Disposable | undefined;
  #reported: { readonly message: string; readonly at: number } | null = null;

  constructor({ pollMs, workSignal }: BackgroundWorkerOptions) {
    this.#workSignal = workSignal;
    this.#loop = new PollLoop(() => this.#workOrFail(), pollMs);
  }

  start(): void {
    this.#subscription ??= this.#workSignal?.onWork(() => {
      this.wake();
    });
    this.#loop.start();
  }

  /** Resolves when the piece under way has ended or handed back what is left of it. Idempotent. */
  async stop(): Promise<void> {
    this.#subscription?.[Symbol.dispose]();
    this.#subscription = undefined;
    await this.#loop.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** For work that can end early. */
  protected get isStopping(): boolean {
    return this.#loop.isStopping;
  }

  /** Ends the wait for the next look. */
  protected wake(): void {
    this.#loop.wake();
  }

  /** Does or begins one piece. True: the next at once; false: within `pollMs`; a number: within so many milliseconds. */
  protected abstract work(): Promise<Next>;

  /**
   * Reports what `work` rejected with; the worker tries again after `pollMs`. The same message is reported again after
   * ten seconds at the earliest, unless an attempt succeeded in between.
   */
  protected abstract failed(error: unknown): void;

  async #workOrFail(): Promise<Next> {
    try {
      const found = await this.work();
      this.#reported = null;
      return found;
    } catch (error) {
      if (this.#isNews(String(error))) this.failed(error);
      return false;
    }
  }

  #isNews(message: string): boolean {
    const at = performance.now();
    if (this.#reported?.message === message && at - this.#reported.at < REPORT_EVERY_MS) return false;
    this.#reported = { message, at };
    return true;
  }
}
