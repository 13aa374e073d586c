/** Actions of one stretch of time; where there are more, the stretch is made shorter. */
export const MAX_CANDIDATES = 2_000;
const FIRST_MS = 3_600_000;

/**
 * How long the first stretch of time should be that is looked at for a feed. Where whole feeds are read one after another,
 * each begins with what the ones before it needed, so that one look is mostly enough.
 */
export class StretchGuess {
  #ms = FIRST_MS;

  get ms(): number {
    return this.#ms;
  }

  /** The stretch held too much for one look. */
  wasTooLong(shorter: number): void {
    this.#ms = shorter;
  }

  /** So long a time was looked at, and held so many candidates. Others may have more: one look has room for twice as many. */
  wasNeeded(ms: number, candidates: number): void {
    if (candidates <= MAX_CANDIDATES / 2) this.#ms = Math.max(this.#ms, ms);
  }
}
