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
      await (withinMs === undefined ? closing : settledWithin(closing, withinMs));
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

async function settledWithin(closing: PromiseLike<void>, withinMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, withinMs);
  });
  try {
    await Promise.race([closing, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
