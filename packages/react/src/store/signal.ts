/** Listeners of one store. They are called after a change, each once. */
export class Signal {
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  emit(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Says when something begins to be used and when nothing uses it any more. */
export class Usage {
  readonly #start: () => void;
  readonly #stop: () => void;
  #users = 0;
  #isStarted = false;
  /** Whether it was used, and nothing uses it any more. */
  isLeft = false;

  constructor(start: () => void, stop: () => void) {
    this.#start = start;
    this.#stop = stop;
  }

  /**
   * @param leave called when it ends
   * @returns what ends it; once more does nothing
   */
  readonly begin = (leave: () => void): (() => void) => {
    this.#users += 1;
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.isLeft = false;
      this.#start();
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      leave();
      this.#users -= 1;
      // React leaves and comes back within a task in StrictMode, and when a list moves in the tree.
      setTimeout(() => {
        if (this.#users > 0 || !this.#isStarted) return;
        this.#isStarted = false;
        this.isLeft = true;
        this.#stop();
      });
    };
  };
}
