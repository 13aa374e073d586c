import { LRUCache } from 'lru-cache';
import { Confirmed } from '../../storage/confirmed.ts';
import type { FeedEntry } from '../../domain/newsfeed-item.ts';
import type { RefId } from '../../domain/action.ts';

/** A page without the content of its items. */
export interface KeptPage {
  readonly edges: readonly (FeedEntry & { readonly cursor: string })[];
  readonly hasMore: boolean;
  readonly end: string | null;
}

/** Asks for what a read is expected to need of its reader beside a page of the feed, in the same command. */
export interface Beside {
  /** The marks of the page's entries. */
  readonly hasMarks: boolean;
  /** So many of the newest actions that the reader has marked as unread, with their entries and revisions; 0: none. */
  readonly unread: number;
  /** Refs of which it is needed whether the reader follows them. */
  readonly refIds: ReadonlySet<RefId>;
}

/** The reads that a page took. */
export interface Needed {
  /** Entries of which rules or filters leave out many; 0: no more than the page has. */
  readonly entries: number;
  /** `null`: nothing. */
  readonly beside: Beside | null;
}

export const NOTHING_NEEDED: Needed = { entries: 0, beside: null };

/** Upper bounds on remembered refs, of all pages and of one. */
const MOST_REFS = 200_000;
const MOST_OF_ONE = 500;

/** Remembers what pages took, so that the next time all of it is read at once. Nothing is served from it. */
export class NeededReads {
  readonly #needed = new LRUCache<string, Needed>({
    ...{ maxSize: MOST_REFS, maxEntrySize: MOST_OF_ONE },
    sizeCalculation: ({ beside }) => 5 + (beside?.refIds.size ?? 0),
  });

  of(page: string): Needed {
    return this.#needed.get(page) ?? NOTHING_NEEDED;
  }

  keep(page: string, needed: Needed): void {
    if (needed.entries > 0 || needed.beside !== null) this.#needed.set(page, needed);
    else this.#needed.delete(page);
  }
}

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly knownCounts: ReturnType<typeof knownOfFeeds>['knownCounts'];
    readonly knownPages: ReturnType<typeof knownOfFeeds>['knownPages'];
    readonly neededReads: NeededReads;
  }
}

/**
 * What was made of answers of the database, each with a digest of its answer.
 * @param cacheBytes 0: no actions are cached, so that known pages would be read in two steps
 */
export function knownOfFeeds(cacheBytes: number) {
  return {
    knownCounts: new Confirmed<{ readonly count: number; readonly isExact: boolean }>(10_000),
    neededReads: new NeededReads(),
    knownPages: new Confirmed<KeptPage>(cacheBytes === 0 ? 1 : 50_000, ({ edges }) => edges.length + 1),
  };
}
