import type { EndSignal } from '../../../lib/ending.ts';
import type { UnreadCount } from '../../shapes.ts';

export interface UnreadWatchOptions {
  readonly count: () => Promise<UnreadCount>;
  readonly signal: EndSignal;
}

/** How long changes gather before they are counted, in milliseconds: a burst of events is one count. */
const GATHER_MS = 250;

/**
 * The unread count of one subscription. At most one count is under way and one waits; a count that nobody has taken
 * gives way to the next. Without changes there is no timer and nothing is counted.
 */
export class UnreadWatch implements Disposable {
  readonly #options: UnreadWatchOptions;
  readonly #onAbort = (): void => {
    this[Symbol.dispose]();
  };
  #timer: NodeJS.Timeout | null = null;
  #isCounting = false;
  #changedMeanwhile = false;
  /** The count under way is of no use. */
  #isOutdated = false;
  /** What the client was told last; null: nothing that still counts. */
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

  /** The count may be another one now. */
  touch(): void {
    if (this.#isOver) return;
    if (this.#isCounting) this.#changedMeanwhile = true;
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        void this.#count();
      }, GATHER_MS).unref();
  }

  /** The list changed by more than its events: a count under way is void, and the next is sent whatever it is. */
  restart(): void {
    this.#notified = null;
    this.#next = null;
    this.#isOutdated = this.#isCounting;
    this.touch();
  }

  get isReady(): boolean {
    return this.#next !== null;
  }

  /** Resolves when there is something to take. Only the last call is answered. */
  ready(): Promise<'unread'> {
    if (this.#next !== null) return Promise.resolve('unread');
    return new Promise((resolve) => {
      this.#wake = () => {
        resolve('unread');
      };
    });
  }

  /** What the client is to be told; null when that is nothing. Throws what the count failed with. */
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
