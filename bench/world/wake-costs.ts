import { setTimeout } from 'node:timers/promises';
import type { UnitCosts } from '../../src/cli/plan/unit-costs.ts';
import type { FanOutWorld } from './fan-out-world.ts';

const FOLLOWED_BY_ONE = 'site-that-wakes';
const APART_MS = 30;
const IDLE_MS = 5_000;
/** A process takes more CPU for its first few hundred actions, and the workers of a world share them. */
const WARM_UP = 400;

type Cpu = NonNullable<UnitCosts['wake']>;

/** Once, before waking is measured. */
export async function followForWaking(worlds: readonly FanOutWorld[]): Promise<void> {
  for (const world of worlds) {
    await world.follow(FOLLOWED_BY_ONE, 1);
    await play(world, WARM_UP);
  }
}

/**
 * Cost of an additional worker per action that another one takes, since all workers hear of each action. Measured with
 * actions of one follower, alternating between a world with one worker and one with two, so that both meet the same
 * conditions.
 */
export async function measureWake(
  one: FanOutWorld,
  two: FanOutWorld,
  { count, turns }: { readonly count: number; readonly turns: number },
): Promise<Cpu> {
  const sums = new Map([one, two].map((world) => [world, { process: 0, database: 0 }]));
  for (let turn = 0; turn < turns; turn += 1)
    for (const world of [one, two]) {
      const { process, database } = await cpuOfEach(world, count);
      const sum = sums.get(world);
      if (sum === undefined) continue;
      sum.process += process / turns;
      sum.database += database / turns;
    }
  const more = (part: keyof Cpu): number =>
    Math.max(0, (sums.get(two)?.[part] ?? 0) - (sums.get(one)?.[part] ?? 0));
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
