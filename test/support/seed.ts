import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of everything random in the run: see `random-runs.ts`. */
    seed: number;
    /** The share of random runs that are done: 1 in a usual run. */
    depth: number;
  }
}

/** What every random suite begins from. The run prints it; `FANFARE_TEST_SEED` sets it. */
export const SEED = inject('seed');

/** Whether this run takes its time for what is left to chance. */
export const IS_DEEP = inject('depth') > 1;

/** All of them in a deep run; in a usual one so many of them, which the seed chooses. */
export function someOf<T>(all: readonly T[], usual: number): readonly T[] {
  if (IS_DEEP) return all;
  return all.filter((_, n) => (n + SEED) % all.length < usual);
}

/** How often to repeat what is left to chance: so often in a usual run, more often in a deep one. */
export function repeats(usual: number): number {
  return Math.max(1, Math.ceil(usual * inject('depth')));
}
