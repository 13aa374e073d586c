import { build, type Histogram } from 'hdr-histogram-js';
import { now } from './statistics.ts';

/** One kind of operation under load. */
export interface Operation {
  readonly name: string;
  /** How many of a hundred arrivals are of this kind. */
  readonly share: number;
  readonly run: () => Promise<unknown>;
}

export interface LoadResult {
  readonly name: string;
  readonly count: number;
  readonly failed: number;
  /** Milliseconds from the intended start, so that waiting behind others counts. */
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  /** The whole histogram, in microseconds, compressed. */
  readonly histogram: string;
}

export interface LoadOptions {
  readonly operations: readonly Operation[];
  /** Arrivals a second, whatever becomes of those before. */
  readonly rate: number;
  readonly seconds: number;
  /** Arrivals that are not answered yet, beyond which the load is called off. */
  readonly maxOpen: number;
  readonly random: () => number;
}

export interface LoadOutcome {
  readonly results: readonly LoadResult[];
  /** Answered a second, from the first arrival to the last answer. */
  readonly throughput: number;
  /** More arrivals were unanswered than allowed: the rate is beyond what can be served. */
  readonly isOverrun: boolean;
}

const MICROSECONDS = 1_000;
const TICK_MS = 2;

/** Starts operations at a fixed rate, on time, and measures each from when it should have started. */
export async function openLoop(options: LoadOptions): Promise<LoadOutcome> {
  const { operations, rate, seconds, maxOpen, random } = options;
  const tallies = new Map(
    operations.map((operation) => [operation, { histogram: newHistogram(), failed: 0 }]),
  );
  const open = new Set<Promise<void>>();
  const start = now();
  const arrivals = Math.max(1, Math.round(rate * seconds));
  let isOverrun = false;
  for (let next = 0; next < arrivals && !isOverrun;) {
    const elapsed = now() - start;
    while (next < arrivals && (next / rate) * 1_000 <= elapsed) {
      const intended = start + (next / rate) * 1_000;
      const operation = pick(operations, random());
      const tally = tallies.get(operation);
      next += 1;
      const run = operation
        .run()
        .then(
          () => {
            tally?.histogram.recordValue(Math.max(1, Math.round((now() - intended) * MICROSECONDS)));
          },
          () => {
            if (tally !== undefined) tally.failed += 1;
          },
        )
        .finally(() => open.delete(run));
      open.add(run);
    }
    isOverrun = open.size > maxOpen;
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(open);
  const took = (now() - start) / 1_000;
  const results = [...tallies].map(([{ name }, { histogram, failed }]) => resultOf(name, histogram, failed));
  return {
    results,
    throughput: results.reduce((sum, result) => sum + result.count, 0) / took,
    isOverrun,
  };
}

function newHistogram(): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 600_000_000,
    numberOfSignificantValueDigits: 3,
  });
}

function resultOf(name: string, histogram: Histogram, failed: number): LoadResult {
  const at = (percentile: number): number => histogram.getValueAtPercentile(percentile) / MICROSECONDS;
  return {
    name,
    count: histogram.totalCount,
    failed,
    p50: at(50),
    p90: at(90),
    p99: at(99),
    max: histogram.maxValue / MICROSECONDS,
    histogram: histogram.outputPercentileDistribution(5, MICROSECONDS),
  };
}

function pick(operations: readonly Operation[], share: number): Operation {
  const all = operations.reduce((sum, operation) => sum + operation.share, 0);
  let rest = share * all;
  for (const operation of operations) {
    rest -= operation.share;
    if (rest < 0) return operation;
  }
  const last = operations.at(-1);
  if (last === undefined) throw new Error('There is nothing to do');
  return last;
}

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Ranks from 0, the first the most likely: rank r has a weight of 1 / (r + 1). */
export function zipf(count: number): (random: number) => number {
  const sums: number[] = [];
  let sum = 0;
  for (let rank = 0; rank < count; rank++) sums.push((sum += 1 / (rank + 1)));
  return (random) => {
    const wanted = random * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? sum) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
