/** Limits how many tasks run at once; the others queue. */
export class Gate {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(width: number) {
    this.#free = width;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
