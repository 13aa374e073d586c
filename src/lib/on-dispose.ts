/** A class on purpose: object literals with a symbol-named method allocate the name each time, for every subscription. */
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
