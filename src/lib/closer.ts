/** Remembers what has been opened and closes it in reverse order, all of it even if one part fails. */
export class Closer implements AsyncDisposable {
  readonly #parts: (() => Promise<void>)[] = [];
  #closing: Promise<void> | null = null;

  /** Registers a part and gives it back. */
  own<T extends AsyncDisposable>(part: T): T {
    this.#parts.push(async () => part[Symbol.asyncDispose]());
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
