import { inject } from 'vitest';
import { FEED_MODEL_NAMES } from '../../src/app/feed-models.ts';
import { IS_DEEP } from './seed.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Whether the files in the folders `each-model` run with the feed models other than `items`. */
    otherModels: boolean;
  }
}

const OTHERS = FEED_MODEL_NAMES.filter((name) => name !== 'items');
const PAIR = 2;

/**
 * The feed models that what a feed and its store promise is tested with, and random histories: `items` in the first tier, all others
 * in the rest.
 */
export function eachModel(): readonly string[] {
  return inject('otherModels') ? OTHERS : ['items'];
}

/**
 * The feed models that a test of a use case runs with: `items` in the first tier; in the rest one pair of the others, of which
 * each file takes its own, and all of them in a deep run.
 *
 * @param turn Which pair: 0, 1, 2, and from the beginning again.
 */
export function someModels(turn: number): readonly string[] {
  if (!inject('otherModels') || IS_DEEP) return eachModel();
  const pair = Array.from({ length: PAIR }, (_, n) => OTHERS[(turn * PAIR + n) % OTHERS.length]);
  return pair.filter((name) => name !== undefined);
}
