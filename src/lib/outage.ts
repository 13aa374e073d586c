/** Exponential, bounded backoff for a service that cannot be reached. */
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

  /** Records a failure; concurrent failures count as one. Returns the delay in milliseconds. */
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
