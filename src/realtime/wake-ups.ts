/** Listeners of one process. Consecutive wake-ups become one asynchronous call per listener, never two at once. */
export class WakeUps {
  readonly #callbacks = new Set<{ readonly call: () => void }>();
  readonly #onError: (error: unknown) => void;
  #isDue = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#callbacks.size;
  }

  add(callback: () => void): Disposable {
    const entry = { call: callback };
    this.#callbacks.add(entry);
    return { [Symbol.dispose]: () => void this.#callbacks.delete(entry) };
  }

  wake(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      for (const { call } of [...this.#callbacks]) {
        try {
          call();
        } catch (error) {
          this.#onError(error);
        }
      }
    });
  }

  clear(): void {
    this.#callbacks.clear();
  }
}
