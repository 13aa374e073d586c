/** By what something hears that it is to end: an AbortSignal, or an Ending. */
export interface EndSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** An AbortController and its signal in one, at a twentieth of the memory: there is one for every open subscription. */
export class Ending implements EndSignal {
  #isOver = false;
  #listeners: readonly (() => void)[] = [];

  get aborted(): boolean {
    return this.#isOver;
  }

  /** Tells all listeners, once. */
  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }

  /** Each listener is called once at most; after the end none is. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#isOver) this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }
}
