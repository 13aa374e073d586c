/** A class, since each object that names a method by a symbol makes that name again; over many subscriptions it adds up. */
export class OnDispose implements Disposable {
  #undo: (() => void) | null;

  constructor(undo: () => void) {
    this.#undo = undo;
  }

  [Symbol.dispose](): void {
    const undo = this.#undo;
    this.#undo = null;
    undo?.();
  }
}
