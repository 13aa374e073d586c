import type { EndSignal } from '../../lib/closer.ts';

interface ValueWatchOptions<T> {
  readonly read: () => Promise<T>;
  /** Whether a client that has one need not be sent the other. */
  readonly isSame: (value: T, sent: T) => boolean;
  readonly signal: EndSignal;
}

/** Delay before reading, in milliseconds, so that a burst of events causes a single read. */
const GATHER_MS = 250;

/**
 * A value that one subscription is sent whenever it has changed, such as an unread count. At most one read is running and one is
 * waiting; a value that nobody has taken is replaced by the next. Without changes there is neither a timer nor a read.
 */
export class ValueWatch<T> implements Disposable {
  readonly #options: ValueWatchOptions<T>;
  readonly #onAbort = (): void => this[Symbol.dispose]();
  #timer: NodeJS.Timeout | null = null;
  #isReading = false;
  #changedMeanwhile = false;
  /** The result of the running read must be discarded. */
  #isOutdated = false;
  /** Last value sent to the client; `null`: none that is still valid. */
  #notified: { readonly value: T } | null = null;
  #next: { readonly value: T } | { readonly error: unknown } | null = null;
  #wake: (() => void) | null = null;
  #isOver = false;

  constructor(options: ValueWatchOptions<T>) {
    this.#options = options;
    const { signal } = options;
    if (signal.aborted) this.#isOver = true;
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The value may have changed. */
  touch(): void {
    if (this.#isOver) return;
    if (this.#isReading) this.#changedMeanwhile = true;
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        void this.#read();
      }, GATHER_MS).unref();
  }

  /** The list changed by more than its events: discards a running read and always sends the next one. */
  restart(): void {
    this.#notified = null;
    this.#next = null;
    this.#isOutdated = this.#isReading;
    this.touch();
  }

  get isReady(): boolean {
    return this.#next !== null;
  }

  /** Resolves when there is a result to take. Only the latest call is answered. */
  ready(): Promise<'value'> {
    if (this.#next !== null) return Promise.resolve('value');
    return new Promise((resolve) => {
      this.#wake = () => resolve('value');
    });
  }

  /** The value to send; `null` when unchanged. Throws the error of a failed read. */
  take(): { readonly value: T } | null {
    const next = this.#next;
    this.#next = null;
    if (next === null) return null;
    if ('error' in next) throw next.error;
    this.#notified = next;
    return next;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#next = null;
    this.#wake = null;
    this.#options.signal.removeEventListener('abort', this.#onAbort);
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    const next = await this.#options.read().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    this.#isReading = false;
    if (this.#isOver) return;
    if (!this.#isOutdated) this.#next = 'value' in next && this.#isSent(next.value) ? null : next;
    this.#isOutdated = false;
    if (this.#changedMeanwhile) {
      this.#changedMeanwhile = false;
      this.touch();
    }
    if (this.#next !== null) this.#wake?.();
  }

  #isSent(value: T): boolean {
    return this.#notified !== null && this.#options.isSame(value, this.#notified.value);
  }
}
