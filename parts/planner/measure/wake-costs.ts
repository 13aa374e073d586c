import { setTimeout } from 'node:timers/promises';
import type { UnitCosts } from '../src/unit-costs.ts';
import { Closer } from '../../../src/lib/closer.ts';
import type { Environment } from '../../../bench/harness/environment.ts';
import { openFanOutWorld, type FanOutWorld } from './fan-out-world.ts';

const FOLLOWED_BY_ONE = 'site-that-wakes';
const APART_MS = 30;
const IDLE_MS = 5_000;
/** A process takes more CPU for its first few hundred actions, and the workers of a world share them. */
const WARM_UP = 150;
const FEW = 2;

type Cpu = NonNullable<UnitCosts['wake']>;

export interface WakeSizes {
  readonly count: number;
  readonly turns: number;
  /** Workers of the world with many; the other one has two. */
  readonly many: number;
}

/**
 * Cost of an additional worker per action that another one takes, since all workers hear of each action. Measured with
 * actions of one follower, alternating between a world with two workers and one with many, so that both meet the same
 * conditions. In both, passes are spread over several processes, which costs more than in one.
 */
export async function measureWake(
  environment: Environment,
  database: string,
  { count, turns, many }: WakeSizes,
): Promise<Cpu> {
  await using closer = new Closer();
  const worlds: FanOutWorld[] = [];
  for (const workers of [FEW, many]) {
    const name = `${database}_${String(workers)}`;
    const world = closer.own(await openFanOutWorld({ environment, database: name, workers }));
    await world.follow(FOLLOWED_BY_ONE, 1);
    await play(world, workers * Math.min(WARM_UP, count));
    worlds.push(world);
  }
  const sums = worlds.map(() => ({ process: 0, database: 0 }));
  for (let turn = 0; turn < turns; turn += 1)
    for (const [index, world] of worlds.entries()) {
      const { process, database: cpu } = await cpuOfEach(world, count);
      const sum = sums[index];
      if (sum === undefined) continue;
      sum.process += process / turns;
      sum.database += cpu / turns;
    }
  const [few, most] = sums;
  const more = (part: keyof Cpu): number =>
    Math.max(0, ((most?.[part] ?? 0) - (few?.[part] ?? 0)) / (many - FEW));
  return { process: more('process'), database: more('database') };
}

async function cpuOfEach(world: FanOutWorld, count: number): Promise<Cpu> {
  const idleFrom = world.cpu();
  await setTimeout(IDLE_MS);
  const from = world.cpu();
  const startedAt = performance.now();
  await play(world, count);
  const to = world.cpu();
  const idleSpans = (performance.now() - startedAt) / IDLE_MS;
  const of = (part: 'worker' | 'database'): number =>
    ((to[part] - from[part] - idleSpans * (from[part] - idleFrom[part])) * 1e6) / count;
  return { process: of('worker'), database: of('database') };
}

async function play(world: FanOutWorld, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await world.publish(FOLLOWED_BY_ONE);
    await setTimeout(APART_MS);
  }
  await world.drained();
}
