/** Runs what concerns one thing one after the other, in the order of the calls. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** @param of names the thing; what concerns another one does not wait */
  take<T>(of: string, run: () => Promise<T>): Promise<T> {
    const turn = this.#last.get(of)?.then(run) ?? run();
    const over = turn
      .catch(() => undefined)
      .then(() => {
        if (this.#last.get(of) === over) this.#last.delete(of);
      });
    this.#last.set(of, over);
    return turn;
  }
}
