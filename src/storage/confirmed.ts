import { LRUCache } from 'lru-cache';
import { clock } from '../lib/clock.ts';

interface Kept<T, S> {
  readonly state: S;
  readonly value: T;
  readonly until: number;
}

/**
 * What a process has read, or made of what it read, each with the state that it is of: a revision, a version, a generation or a digest.
 * It is used only for a state that was read after its caller began, so it is never older than what would be read now.
 */
export class Confirmed<T extends object, S extends string | number = string> {
  readonly #kept: LRUCache<string, Kept<T, S>>;

  /** @param most upper bound on the sum of the sizes. Default size: 1 */
  constructor(most: number, sizeOf: (value: T) => number = () => 1) {
    this.#kept = new LRUCache({ maxSize: most, sizeCalculation: ({ value }) => sizeOf(value) });
  }

  /** `null`: not known of this state. @param state `null`: of whatever state, for what does not depend on it */
  find(key: string, state: S | null): T | null {
    const kept = this.#kept.get(key);
    if (kept === undefined || (state !== null && kept.state !== state) || clock.time() >= kept.until)
      return null;
    return kept.value;
  }

  /** @param until from when on it does not hold any more, as `clock.time()`. Default: as long as the state is the same */
  keep(key: string, state: S, value: T, until = Infinity): void {
    this.#kept.set(key, { state, value, until });
  }
}
