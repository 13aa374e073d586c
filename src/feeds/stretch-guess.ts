/** Limit of actions per window. A window with more is made shorter. */
export const MAX_CANDIDATES = 2_000;
const FIRST_MS = 3_600_000;

/**
 * Length of the first window that is read for a feed. When whole feeds are read one after another, each starts with the
 * length that the previous ones needed, so that one read is usually enough.
 */
export class StretchGuess {
  #ms = FIRST_MS;

  get ms(): number {
    return this.#ms;
  }

  /** The window had too many actions for one read. */
  wasTooLong(shorter: number): void {
    this.#ms = shorter;
  }

  /** A feed needed this length, which had this many candidates. Only lengths that leave room for twice as many are kept. */
  wasNeeded(ms: number, candidates: number): void {
    if (candidates <= MAX_CANDIDATES / 2) this.#ms = Math.max(this.#ms, ms);
  }
}
