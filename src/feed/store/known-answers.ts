import { LRUCache } from 'lru-cache';
import { upToEntries } from '../../lib/weight.ts';
import { clock } from '../../lib/clock.ts';
import type { FeedEntry } from '../../domain/newsfeed-item.ts';

/** A page without the content of its items. */
export interface KeptPage {
  readonly edges: readonly (FeedEntry & { readonly cursor: string })[];
  readonly hasMore: boolean;
  readonly end: string | null;
}

interface Kept<T> {
  readonly print: string;
  readonly made: T;
  readonly until: number;
}

/**
 * What one process has made of answers of the database, each with a digest of its answer. While the database gives the same
 * answer, the same is made of it.
 */
export class Known<T extends object> {
  readonly #known: LRUCache<string, Kept<T>>;

  /** @param most upper bound on the sum of the sizes. */
  constructor(most: number, sizeOf: (made: T) => number = () => 1) {
    this.#known = new LRUCache({ maxSize: most, sizeCalculation: ({ made }) => sizeOf(made) });
  }

  /** `null`: not known for this answer. @param print `null`: of whatever answer. */
  find(list: string, print: string | null): T | null {
    const known = this.#known.get(list);
    if (known === undefined || (print !== null && known.print !== print) || clock.time() >= known.until)
      return null;
    return known.made;
  }

  /** @param until from when on it does not hold any more, as `clock.time()`. Default: as long as the answer is the same */
  keep(list: string, print: string, made: T, until = Infinity): void {
    this.#known.set(list, { print, made, until });
  }
}

/** How many entries pages took of which rules or filters leave out many, so that the next time all are read and decided at once. */
export class NeededEntries {
  readonly #needed = new LRUCache<string, number>(upToEntries(10_000));

  /** 0: no more than the page has. */
  of(page: string): number {
    return this.#needed.get(page) ?? 0;
  }

  keep(page: string, count: number): void {
    if (count > 0) this.#needed.set(page, count);
    else this.#needed.delete(page);
  }
}

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly knownCounts: ReturnType<typeof knownOfFeeds>['knownCounts'];
    readonly knownPages: ReturnType<typeof knownOfFeeds>['knownPages'];
    readonly neededEntries: NeededEntries;
  }
}

/** @param cacheBytes 0: no actions are cached, so that known pages would be read in two steps */
export function knownOfFeeds(cacheBytes: number) {
  return {
    knownCounts: new Known<{ readonly count: number; readonly isExact: boolean }>(10_000),
    neededEntries: new NeededEntries(),
    knownPages: new Known<KeptPage>(cacheBytes === 0 ? 1 : 50_000, ({ edges }) => edges.length + 1),
  };
}
