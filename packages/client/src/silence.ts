/** Calls back once when nothing was heard for as long as one listened. */
export class Silence {
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onSilence: () => void) {
    this.#onSilence = onSilence;
  }

  /** Listens from now on, for so many ms. */
  listen(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onSilence, ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
