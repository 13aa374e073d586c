interface Event {
  readonly item?: { readonly id: string };
  readonly itemId?: string;
}

/** What one subscription hands over. */
export interface Passage {
  /** Whether something waits for `show`. */
  readonly isHolding: boolean;
  /**
   * @param moves whether the event brings an item that is not shown, or is shown in another place
   * @returns when the event has been delivered, or is kept until `show`
   */
  pass(event: Event, moves: () => boolean, deliver: () => void): Promise<void>;
  /** Forgets what waits for `show`, and runs when no request is under way. */
  reset(run: () => Promise<unknown>): Promise<void>;
  close(): void;
}

/**
 * Holds events back: while a request is under way, so that each is then newer than the answer or repeats part of it; and new
 * and moved items from `hold` to `show`.
 */
export class Gate {
  readonly #onHeld: (count: number) => void;
  /** What waits for `show`, by item, for each subscription. */
  readonly #lists = new Set<Map<string, () => void>>();
  #requests = 0;
  #waiting: (() => void)[] = [];
  #isHolding = false;

  /** @param onHeld is called with the number of items that wait, whenever it may have changed */
  constructor(onHeld: (count: number) => void) {
    this.#onHeld = onHeld;
  }

  async during<T>(request: () => Promise<T>): Promise<T> {
    this.#requests += 1;
    try {
      return await request();
    } finally {
      this.#requests -= 1;
      if (this.#requests === 0) for (const wake of this.#waiting.splice(0)) wake();
    }
  }

  hold(): void {
    this.#isHolding = true;
  }

  show(): void {
    this.#isHolding = false;
    for (const held of this.#lists) {
      for (const deliver of held.values()) void this.#whenIdle(deliver);
      held.clear();
    }
    this.#report();
  }

  open(): Passage {
    const held = new Map<string, () => void>();
    this.#lists.add(held);
    return {
      get isHolding() {
        return held.size > 0;
      },
      pass: async (event, moves, deliver) => {
        const id = event.item?.id ?? event.itemId;
        const isHeld = event.item !== undefined && this.#isHolding && moves();
        if (id !== undefined) held.delete(id);
        if (isHeld) held.set(event.item.id, deliver);
        this.#report();
        if (!isHeld) await this.#whenIdle(deliver);
      },
      reset: async (run) => {
        held.clear();
        this.#report();
        let reading: Promise<unknown> | undefined;
        await this.#whenIdle(() => {
          reading = this.during(run);
        });
        await reading;
      },
      close: () => {
        this.#lists.delete(held);
        this.#report();
      },
    };
  }

  /** In the order in which it was called. */
  async #whenIdle(run: () => void): Promise<void> {
    // A request may have begun between the end of the last one and this.
    while (this.#requests > 0)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    run();
  }

  #report(): void {
    this.#onHeld([...this.#lists].reduce((sum, held) => sum + held.size, 0));
  }
}
