import { randomExponential, randomLcg } from 'd3-random';
import type { Lane } from '../../../src/domain/lane.ts';
import type { Stratum } from './popularity.ts';
import type { Arrival } from './simulation/system.ts';

export interface Burst {
  readonly at: number;
  readonly actions: number;
  readonly lane: Lane;
}

export interface ArrivalOptions {
  readonly strata: readonly Stratum[];
  /** Actions per second. */
  readonly rate: number;
  readonly seconds: number;
  /** Refs with more followers are not pushed. */
  readonly threshold: number;
  readonly bursts?: readonly Burst[];
  readonly seed: number;
}

/** Independent random actions on refs, weighted by their popularity. Deterministic for a seed. */
export function arrivalsOf(options: ArrivalOptions): readonly Arrival[] {
  const { strata, rate, seconds, threshold, bursts = [], seed } = options;
  const chance = randomLcg(seededShare(seed));
  const gap = randomExponential.source(chance)(rate);
  const shares = cumulative(strata);
  const readers = (): number => {
    const { followers = 0 } = strata[firstAbove(shares, chance())] ?? {};
    // A stratum may have less than one follower on average.
    const some = Math.floor(followers) + (chance() < followers % 1 ? 1 : 0);
    return some > threshold ? 0 : some;
  };
  const arrivals: Arrival[] = [];
  for (let at = gap(); at < seconds; at += gap()) arrivals.push({ at, lane: 'LIVE', readers: readers() });
  for (const { at, actions, lane } of bursts)
    for (let n = 0; n < actions; n += 1) arrivals.push({ at, lane, readers: readers() });
  return arrivals.sort((a, b) => a.at - b.at);
}

/** The generator expects a number below one; neighbouring seeds must be unrelated. */
function seededShare(seed: number): number {
  return (Math.imul(seed, 2_654_435_761) >>> 0) / 2 ** 32;
}

function cumulative(strata: readonly Stratum[]): readonly number[] {
  let sum = 0;
  return strata.map(({ actionShare }) => (sum += actionShare));
}

/** Index of the first value above the given one, or the last index. */
function firstAbove(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((sorted[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
