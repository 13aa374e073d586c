import { within } from './within.ts';

/** A class on purpose: object literals with a symbol-named method allocate the name each time, for every subscription. */
export class OnDispose implements Disposable {
  #undo: (() => void) | null;

  constructor(undo: () => void) {
    this.#undo = undo;
  }

  [Symbol.dispose](): void {
    const undo = this.#undo;
    this.#undo = null;
    undo?.();
  }
}

/** Signals an end to its listeners: an AbortSignal or an Ending. */
export interface EndSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** AbortController and signal in one object, at a twentieth of the memory: every open subscription has one. */
export class Ending implements EndSignal {
  #isOver = false;
  #listeners: readonly (() => void)[] = [];

  get aborted(): boolean {
    return this.#isOver;
  }

  /** Notifies all listeners, once. */
  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }

  /** Each listener is called at most once, and never when added after the end. */
  addEventListener(_type: 'abort', listener: () => void): void {
    // Exactly as large as needed, which a spread list would not be.
    if (!this.#isOver) this.#listeners = this.#listeners.concat(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }
}

/** Closes registered parts in reverse order, all of them even if some fail. */
export class Closer implements AsyncDisposable {
  readonly #parts: (() => Promise<void>)[] = [];
  #closing: Promise<void> | null = null;

  /**
   * Registers a part and returns it.
   * @param withinMs how long to wait for its closing before the next part is closed as well. Default: until it has closed.
   */
  own<T extends AsyncDisposable>(part: T, withinMs?: number): T {
    this.#parts.push(async () => {
      const closing = part[Symbol.asyncDispose]();
      await (withinMs === undefined ? closing : within(withinMs, closing, undefined));
    });
    return part;
  }

  /** Idempotent: all calls share one closing. Rejects with the failures after every part was tried. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      try {
        await part();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, 'Several parts could not be closed');
  }
}

/** Waits until all have settled, then rejects if any failed. @param message used when several failed. */
export async function allEnded(endings: readonly Promise<unknown>[], message: string): Promise<void> {
  const ended = await Promise.allSettled(endings);
  const failures = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, message);
}
