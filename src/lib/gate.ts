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

/** Calls the function until it succeeds, then returns that result for ever. */
export function once<T>(get: () => Promise<T>): () => Promise<T> {
  let got: Promise<T> | null = null;
  return () => {
    if (got !== null) return got;
    const attempt = get();
    got = attempt;
    attempt.catch(() => {
      got = null;
    });
    return attempt;
  };
}
