import { FEED_MODEL_NAMES } from '../../src/packages/feed-models.ts';
import { IS_DEEP } from './seed.ts';

/** Of these, each file takes its own pair, so that a usual run has every model in some of them. */
const OTHERS = FEED_MODEL_NAMES.filter((name) => name !== 'items');
const PAIR = 2;

/**
 * The feed models that a test of a use case runs with: all of them in a deep run, `items` and one pair of the others in a
 * usual run. What a model promises is tested with every model in every run, by the conformance suites and the random
 * histories.
 *
 * @param turn Which pair: 0, 1, 2, and from the beginning again.
 */
export function someModels(turn: number): readonly string[] {
  if (IS_DEEP) return FEED_MODEL_NAMES;
  const pair = Array.from({ length: PAIR }, (_, n) => OTHERS[(turn * PAIR + n) % OTHERS.length]);
  return ['items', ...pair.filter((name) => name !== undefined)];
}
