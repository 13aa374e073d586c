/** How long to leave alone what could not be reached: longer after each failure in a row, with a bound. */
export class Outage {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #failures = 0;
  #until = 0;

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  /** Milliseconds until the next attempt; 0: now. */
  get waitMs(): number {
    return Math.max(0, this.#until - performance.now());
  }

  /** Notes a failure; several at the same time are one. Returns how long to wait, in milliseconds. */
  failed(): number {
    if (this.waitMs === 0) {
      this.#until = performance.now() + Math.min(this.#maxMs, this.#firstMs * 2 ** this.#failures);
      this.#failures += 1;
    }
    return this.waitMs;
  }

  over(): void {
    this.#failures = 0;
    this.#until = 0;
  }
}
