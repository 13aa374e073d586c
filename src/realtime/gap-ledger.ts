import type { UserId } from '../domain/action.ts';

/** Whose events may be missing: these readers, or all of them once the list grew too long. */
export type Gaps = ReadonlySet<UserId> | 'all';

/** Remembers the readers to whom a gap has still to be announced. Bounded: many readers become all. */
export class GapLedger {
  readonly #limit: number;
  #gaps: Set<UserId> | 'all' = new Set();

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#gaps !== 'all' && this.#gaps.size === 0;
  }

  note(gaps: Iterable<UserId> | 'all'): void {
    if (gaps === 'all') {
      this.#gaps = 'all';
      return;
    }
    for (const userId of gaps) {
      if (this.#gaps === 'all') return;
      this.#gaps.add(userId);
      if (this.#gaps.size > this.#limit) this.#gaps = 'all';
    }
  }

  /** Hands everything noted over; who cannot announce it notes it again. */
  take(): Gaps {
    const gaps = this.#gaps;
    this.#gaps = new Set();
    return gaps;
  }
}
