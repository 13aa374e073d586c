import { LRUCache } from 'lru-cache';
import type { Action, RefId, UserId } from '../../domain/action.ts';
import type { Follow } from '../../domain/viewer.ts';
import { followableIds } from '../../domain/visibility.ts';

/** What the next first page of a reader will need of pulled refs, by what the one before needed. */
export interface PullGuess {
  /** Pulled refs that the reader followed. */
  readonly refIds: readonly RefId[];
  /** What else the actions found could be followed by. */
  readonly otherIds: readonly RefId[];
  /** How far back actions were needed; null: to the beginning. */
  readonly above: Date | null;
  /** Entries of the page. */
  readonly limit: number;
}

/** What was guessed, as of the read that it was asked with. */
export interface PulledAhead {
  readonly guess: PullGuess;
  /** All there are of the guessed refs as far back as guessed. */
  readonly actions: readonly Action[];
  /** The reader's follows of whatever was asked for, and what that was. */
  readonly follows: readonly Follow[];
  readonly asked: ReadonlySet<RefId>;
}

/** Actions that are taken by a guess at most: where there are more, they are brought in vain. */
export const MOST_GUESSED = 60;
/** Ids that a process remembers, of all readers and of one. */
const MOST_IDS = 200_000;
const MOST_OF_ONE = 1_000;

/**
 * What readers needed of pulled refs. Nothing is served from it: it says what to ask for together with the stored page, and
 * what was read then counts only where it covers what turns out to be needed.
 */
export class PullGuesses {
  /** By reader and length of the page: a long page needs more, which a short one would bring in vain. */
  readonly #kept = new LRUCache<string, PullGuess>({
    ...{ maxSize: MOST_IDS, maxEntrySize: MOST_OF_ONE },
    sizeCalculation: ({ refIds, otherIds }) => 5 + refIds.length + otherIds.length,
  });

  /** Null: nothing is known of pages of that length. */
  of(userId: UserId, limit: number): PullGuess | null {
    return this.#kept.get(keyOf(userId, limit)) ?? null;
  }

  /** @param actions what was found to be needed, or more. */
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
