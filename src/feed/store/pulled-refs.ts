import type { RefId, Action, UserId } from '../../domain/action.ts';
import type { RefsRepository } from '../../features/directory/store/refs.ts';
import { LRUCache } from 'lru-cache';
import type { Follow } from '../../domain/viewer.ts';
import { followableIds } from '../../domain/visibility.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly pulledRefs: ReturnType<typeof pulledRefs>;
  }
}

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
    actions: readonly Pick<Action, 'refIds' | 'reshares'>[],
  ): void {
    const pulled = new Set(guess.refIds);
    const otherIds = [...new Set(actions.flatMap(followableIds))].filter((id) => !pulled.has(id));
    this.#kept.set(keyOf(userId, guess.limit), { ...guess, otherIds });
  }
}

function keyOf(userId: UserId, limit: number): string {
  return `${String(limit)} ${userId}`;
}

/**
 * Refresh interval. A ref is announced as pulled several intervals before its first action is not pushed, so no process is
 * late.
 */
const REFRESH_MS = 5_000;
export const PULL_NOTICE_MS = 3 * REFRESH_MS;

export interface PulledRefs {
  /** Refs of which some actions may not have been pushed. */
  known(): Promise<ReadonlySet<RefId>>;
  /** Refs whose new actions are not pushed now. */
  active(now: Date): Promise<ReadonlySet<RefId>>;
}

interface Pulled {
  /** Since when each ref is pulled; `null`: only its old actions are, and new ones are pushed again. */
  readonly since: ReadonlyMap<RefId, Date | null>;
  readonly known: ReadonlySet<RefId>;
}

interface Reading {
  readonly at: number;
  readonly pulled: Promise<Pulled>;
}

/** Refs above the follower threshold, read at most every five seconds. @param refreshMs for tests. */
export function pulledRefs(refs: RefsRepository, refreshMs = REFRESH_MS): PulledRefs {
  let reading: Reading | null = null;
  async function read(): Promise<Pulled> {
    const since = await refs.pulled();
    return { since, known: new Set(since.keys()) };
  }
  async function current(): Promise<Pulled> {
    const now = performance.now();
    if (reading === null || now - reading.at > refreshMs) {
      const fresh: Reading = { at: now, pulled: read() };
      reading = fresh;
      fresh.pulled.catch(() => {
        if (reading === fresh) reading = null;
      });
    }
    return reading.pulled;
  }
  return {
    known: async () => (await current()).known,
    active: async (now) =>
      new Set(
        [...(await current()).since].flatMap(([refId, since]) =>
          since !== null && since.getTime() <= now.getTime() ? [refId] : [],
        ),
      ),
  };
}
