import type { UserId } from '../domain/action.ts';

/** Readers whose events may be missing, or all readers once the list grew too long. */
export type Gaps = ReadonlySet<UserId> | 'all';

/** Remembers readers to whom a gap must still be announced. Bounded: too many readers become all. */
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

  /** Takes everything recorded; a caller that cannot announce it records it again. */
  take(): Gaps {
    const gaps = this.#gaps;
    this.#gaps = new Set();
    return gaps;
  }
}
