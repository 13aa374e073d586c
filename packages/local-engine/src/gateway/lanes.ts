/** Lets work of the same name run one after the other. */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` when all that was given before under this name has ended, however it ended. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const run = (this.#last.get(name) ?? Promise.resolve()).then(work);
    const ended = run.catch(() => undefined);
    this.#last.set(name, ended);
    try {
      return await run;
    } finally {
      if (this.#last.get(name) === ended) this.#last.delete(name);
    }
  }
}
