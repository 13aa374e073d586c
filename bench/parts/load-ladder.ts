import type { LoadResult } from '../harness/latencies.ts';
import { openLoop } from '../harness/open-loop.ts';
import { seededRandom } from '../harness/random.ts';
import { now } from '../harness/statistics.ts';
import type { LoadWorld } from '../world/load-world.ts';

/** What a step has to hold to be sustained, in milliseconds. */
export interface Bounds {
  /** For 99 of 100 operations. */
  readonly p99: number;
  /** From the last arrival until every fan-out is done. */
  readonly behind: number;
}

/** More arrivals than come in so many seconds must not be unanswered. */
const MOST_OPEN_SECONDS = 2;
/** A step that is not sustained gets another chance: one hiccup of the machine is not its limit. */
const CHANCES = 2;
/** Operations a second of a first step whose outcome does not count. */
const WARM_UP_RATE = 20;
/** Longest wait for the worker before the next step. */
const GIVE_UP_MS = 120_000;

export interface Step {
  readonly rate: number;
  readonly all: LoadResult;
  readonly throughput: number;
  /** Milliseconds until every fan-out was done. */
  readonly behind: number;
  /** Null when it was sustained. */
  readonly reason: string | null;
}

export interface Ladder {
  readonly steps: readonly Step[];
  /** The highest rate that was sustained, in operations a second. */
  readonly highest: number;
  readonly bounds: Bounds;
}

interface Climb {
  readonly rates: readonly number[];
  /** Of each step. */
  readonly seconds: number;
  readonly bounds: Bounds;
  readonly say: (line: string) => void;
}

/** Raises the rate step by step until it is not sustained any more. @throws Error when not even the first step is. */
export async function climb(load: LoadWorld, options: Climb): Promise<Ladder> {
  // Of a cold server nothing is asked yet.
  await take(load, WARM_UP_RATE, options);
  const steps: Step[] = [];
  let highest = 0;
  for (const rate of options.rates) {
    let isSustained = false;
    for (let chance = 0; chance < CHANCES && !isSustained; chance++) {
      const step = await take(load, rate, options);
      options.say(describe(step));
      steps.push(step);
      isSustained = step.reason === null;
    }
    if (!isSustained) break;
    highest = rate;
  }
  if (highest === 0) throw new Error(`Not even the lowest rate is sustained: ${steps.at(-1)?.reason ?? ''}`);
  return { steps, highest, bounds: options.bounds };
}

async function take(load: LoadWorld, rate: number, { seconds, bounds }: Climb): Promise<Step> {
  const { all, throughput, isOverrun, firstFailure } = await openLoop({
    shares: load.mix.shares,
    rate,
    seconds,
    maxOpen: Math.max(100, rate * MOST_OPEN_SECONDS),
    random: seededRandom(rate),
  });
  const behind = await caughtUp(load);
  const reasons = [
    ...(isOverrun ? ['too many were waiting'] : []),
    ...(firstFailure === null ? [] : [firstFailure]),
    ...(all.p99 > bounds.p99 ? [`p99 above ${String(bounds.p99)} ms`] : []),
    ...(behind > bounds.behind ? [`fan-outs ${(behind / 1_000).toFixed(1)} s behind`] : []),
  ];
  return { rate, all, throughput, behind, reason: reasons.length === 0 ? null : reasons.join('; ') };
}

/** How long it takes until every fan-out is done. */
async function caughtUp({ openFanOuts }: LoadWorld): Promise<number> {
  const start = now();
  while ((await openFanOuts()) > 0) {
    if (now() - start > GIVE_UP_MS) throw new Error('The worker does not come to an end');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return now() - start;
}

function describe({ rate, all, reason }: Step): string {
  return `${String(rate)} operations/s: p99 ${all.p99.toFixed(0)} ms, ${reason === null ? 'sustained' : `not sustained: ${reason}`}`;
}
