import type { EndSignal } from '../../../lib/ending.ts';
import type { UnreadCount } from '../../shapes.ts';

export interface UnreadWatchOptions {
  readonly count: () => Promise<UnreadCount>;
  readonly signal: EndSignal;
}

/** Delay before counting, in milliseconds, so that a burst of events causes a single count. */
const GATHER_MS = 250;

/**
 * Unread count of one subscription. At most one count is running and one is waiting; a count that nobody has taken is
 * replaced by the next. Without changes there is neither a timer nor a count.
 */
export class UnreadWatch implements Disposable {
  readonly #options: UnreadWatchOptions;
  readonly #onAbort = (): void => {
    this[Symbol.dispose]();
  };
  #timer: NodeJS.Timeout | null = null;
  #isCounting = false;
  #changedMeanwhile = false;
  /** The result of the running count must be discarded. */
  #isOutdated = false;
  /** Last count sent to the client; `null`: none that is still valid. */
  #notified: UnreadCount | null = null;
  #next: { readonly unread: UnreadCount } | { readonly error: unknown } | null = null;
  #wake: (() => void) | null = null;
  #isOver = false;

  constructor(options: UnreadWatchOptions) {
    this.#options = options;
    const { signal } = options;
    if (signal.aborted) this.#isOver = true;
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The count may have changed. */
  touch(): void {
    if (this.#isOver) return;
    if (this.#isCounting) this.#changedMeanwhile = true;
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        void this.#count();
      }, GATHER_MS).unref();
  }

  /** The list changed by more than its events: discards a running count and always sends the next one. */
  restart(): void {
    this.#notified = null;
    this.#next = null;
    this.#isOutdated = this.#isCounting;
    this.touch();
  }

  get isReady(): boolean {
    return this.#next !== null;
  }

  /** Resolves when there is a result to take. Only the latest call is answered. */
  ready(): Promise<'unread'> {
    if (this.#next !== null) return Promise.resolve('unread');
    return new Promise((resolve) => {
      this.#wake = () => {
        resolve('unread');
      };
    });
  }

  /** The count to send; `null` when unchanged. Throws the error of a failed count. */
  take(): UnreadCount | null {
    const next = this.#next;
    this.#next = null;
    if (next === null) return null;
    if ('error' in next) throw next.error;
    this.#notified = next.unread;
    return next.unread;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#next = null;
    this.#wake = null;
    this.#options.signal.removeEventListener('abort', this.#onAbort);
  }

  async #count(): Promise<void> {
    this.#isCounting = true;
    const next = await this.#options.count().then(
      (unread) => ({ unread }),
      (error: unknown) => ({ error }),
    );
    this.#isCounting = false;
    if (this.#isOver) return;
    if (!this.#isOutdated) this.#next = 'unread' in next && isSame(next.unread, this.#notified) ? null : next;
    this.#isOutdated = false;
    if (this.#changedMeanwhile) {
      this.#changedMeanwhile = false;
      this.touch();
    }
    if (this.#next !== null) this.#wake?.();
  }
}

function isSame(a: UnreadCount, b: UnreadCount | null): boolean {
  return a.count === b?.count && a.isExact === b.isExact;
}
