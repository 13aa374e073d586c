/** Keeps what comes until it is asked for, one at a time. What came before the end is still given, then the end. */
export class Inbox<T> {
  readonly #values: T[] = [];
  #end: Error | 'complete' | null = null;
  #wake: (() => void) | null = null;

  get size(): number {
    return this.#values.length;
  }

  push(value: T): void {
    if (this.#end !== null) return;
    this.#values.push(value);
    this.#wake?.();
  }

  /** The first end counts. */
  end(how: Error | 'complete'): void {
    this.#end ??= how;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const value = this.#values.shift();
      if (value !== undefined) yield value;
      else if (this.#end === 'complete') return;
      else if (this.#end !== null) throw this.#end;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
