/** Remembers what has been opened and closes it in reverse order, all of it even if one part fails. */
export class Closer implements AsyncDisposable {
  readonly #parts: (() => Promise<void>)[] = [];
  #closing: Promise<void> | null = null;

  /**
   * Registers a part and gives it back.
   * @param withinMs how long its closing is waited for; then the next part is closed beside it. Default: to its end.
   */
  own<T extends AsyncDisposable>(part: T, withinMs?: number): T {
    this.#parts.push(async () => {
      const closing = part[Symbol.asyncDispose]();
      await (withinMs === undefined ? closing : settledWithin(closing, withinMs));
    });
    return part;
  }

  /** Idempotent: every call waits for the same closing. Rejects with what failed once all parts have been tried. */
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
