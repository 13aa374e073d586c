import { LRUCache } from 'lru-cache';
import type { UserId } from '../../domain/action.ts';
import { upToEntries } from '../../lib/weight.ts';

/** Milliseconds for each action of a reader's source, as a process read them last: how long a window has to be for so many. */
export class Paces {
  readonly #paces = new LRUCache<UserId, number>(upToEntries(10_000));

  of(userId: UserId): number | null {
    return this.#paces.get(userId) ?? null;
  }

  keep(userId: UserId, pace: number | null): void {
    if (pace !== null) this.#paces.set(userId, pace);
  }
}
