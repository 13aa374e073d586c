import { upToEntries } from '../../lib/weight.ts';
import { LRUCache } from 'lru-cache';

interface KnownCount {
  readonly count: number;
  readonly isExact: boolean;
}

const MOST = 10_000;

/**
 * Counts of one process, each with a digest of the answer of the database that gave it. While the database gives the same answer,
 * the count is the same.
 */
export class KnownCounts {
  readonly #known = new LRUCache<string, { readonly print: string; readonly made: KnownCount }>(
    upToEntries(MOST),
  );

  /** `null`: not known for this answer. */
  find(list: string, print: string): KnownCount | null {
    const known = this.#known.get(list);
    return known?.print === print ? known.made : null;
  }

  keep(list: string, print: string, made: KnownCount): void {
    this.#known.set(list, { print, made });
  }
}
