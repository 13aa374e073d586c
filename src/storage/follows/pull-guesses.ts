import { LRUCache } from 'lru-cache';
import type { Action, RefId, UserId } from '../../domain/action.ts';
import type { Follow } from '../../domain/viewer.ts';
import { followableIds } from '../../domain/visibility.ts';

/** Expected needs of a reader's next first page from pulled refs, based on the previous page. */
export interface PullGuess {
  /** Pulled refs that the reader followed. */
  readonly refIds: readonly RefId[];
  /** Other followable ids of the actions found. */
  readonly otherIds: readonly RefId[];
  /** How far back actions were needed; `null`: to the beginning. */
  readonly above: Date | null;
  /** Entries of the page. */
  readonly limit: number;
}

/** Data read by a guess, as of that read. */
export interface PulledAhead {
  readonly guess: PullGuess;
  /** All actions of the guessed refs, as far back as guessed. */
  readonly actions: readonly Action[];
  /** The reader's follows of the queried ids, and these ids. */
  readonly follows: readonly Follow[];
  readonly asked: ReadonlySet<RefId>;
}

/** Upper bound on actions of a guess: more would often be read in vain. */
export const MOST_GUESSED = 60;
/** Upper bounds on remembered ids, for all readers and for one. */
const MOST_IDS = 200_000;
const MOST_OF_ONE = 1_000;

/**
 * Remembers what readers needed from pulled refs. Nothing is served from it: it decides what to read together with the
 * stored page, and that data is used only if it covers what turns out to be needed.
 */
export class PullGuesses {
  /** By reader and page length: a long page needs more, which a short one would read in vain. */
  readonly #kept = new LRUCache<string, PullGuess>({
    ...{ maxSize: MOST_IDS, maxEntrySize: MOST_OF_ONE },
    sizeCalculation: ({ refIds, otherIds }) => 5 + refIds.length + otherIds.length,
  });

  /** `null`: no page of this length is known. */
  of(userId: UserId, limit: number): PullGuess | null {
    return this.#kept.get(keyOf(userId, limit)) ?? null;
  }

  /** @param actions those that were needed, or more. */
  keep(
    userId: UserId,
    guess: Pick<PullGuess, 'refIds' | 'above' | 'limit'>,
    actions: readonly Action[],
  ): void {
    const pulled = new Set(guess.refIds);
    const otherIds = [...new Set(actions.flatMap(followableIds))].filter((id) => !pulled.has(id));
    this.#kept.set(keyOf(userId, guess.limit), { ...guess, otherIds });
  }
}

function keyOf(userId: UserId, limit: number): string {
  return `${String(limit)} ${userId}`;
}
