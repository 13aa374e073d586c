/**
 * Does something once, when it is disposed. A class, since each object that names a method by a symbol of its own makes
 * that name again; with one for every subscription that adds up.
 */
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
