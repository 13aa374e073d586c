import { setTimeout } from 'node:timers/promises';
import { quantile } from '../harness/statistics.ts';
import type { UnitCosts } from '../../src/cli/plan/unit-costs.ts';
import type { FanOutWorld, PartsCpu } from './fan-out-world.ts';

/** How often each audience is measured. */
export interface CostSizes {
  readonly one: number;
  readonly chunk: number;
  readonly many: number;
  /** Followers of the largest. */
  readonly followers: number;
}

export type MeasuredCosts = Pick<UnitCosts, 'publish' | 'pass' | 'chunkWait'> & {
  readonly delivery: UnitCosts['models'][string]['delivery'];
};

const CHUNK = 1_000;
const IDLE_MS = 2_000;
const APART_MS = 30;
const WARM_UP = 100;
const ONE = 'site-of-one';
const ONE_CHUNK = 'site-of-a-chunk';
const MANY = 'site-of-many';

interface Run {
  readonly lag: number;
  readonly answer: number;
  readonly cpu: PartsCpu;
  readonly actions: number;
}

/** Followers of what is measured with. Once for a database. */
export async function followForCosts(world: FanOutWorld, { followers }: CostSizes): Promise<void> {
  await world.follow(ONE, 1);
  await world.follow(ONE_CHUNK, CHUNK);
  await world.follow(MANY, followers);
}

/**
 * What the parts of a fan-out cost, from actions of one follower, of a chunk and of many, one at a time on an idle machine.
 * CPU is what the processes used, less what they use while idle; what is left of the time is waiting.
 */
export async function measureFanOutCosts(world: FanOutWorld, sizes: CostSizes): Promise<MeasuredCosts> {
  // Processes that were started a moment ago take twice the CPU for their first actions.
  await play(world, ONE, WARM_UP);
  for (const refId of [ONE_CHUNK, MANY, ONE_CHUNK]) await play(world, refId, 5);
  const idle = await idleCpu(world);
  const measure = async (refId: string, count: number): Promise<Run> => {
    const from = performance.now();
    const before = world.cpu();
    const { lags, answers } = await play(world, refId, count);
    const seconds = (performance.now() - from) / 1_000;
    return {
      lag: quantile(lags, 0.5) * 1_000,
      answer: quantile(answers, 0.5) * 1_000,
      cpu: less(world.cpu(), before, (part) => idle[part] * seconds, (1 / count) * 1e6),
      actions: count,
    };
  };
  const one = await measure(ONE, sizes.one);
  const chunk = await measure(ONE_CHUNK, sizes.chunk);
  const many = await measure(MANY, sizes.many);
  const each = (part: keyof PartsCpu): number =>
    Math.max(0, (many.cpu[part] - one.cpu[part]) / (sizes.followers - 1));
  const delivery = { process: each('worker'), database: each('database'), redis: each('redis') };
  // Publishing and the pass share the database's part: a mutation writes once, a pass reads and writes about twice.
  const publish = { process: one.cpu.api + one.cpu.benchmark, database: one.cpu.database / 3 };
  const pass = { process: one.cpu.worker, database: (one.cpu.database * 2) / 3 };
  const ofChunk = CHUNK * (delivery.process + delivery.database + delivery.redis);
  return {
    publish: { ...publish, ...within(publish, one.answer) },
    pass: { ...pass, ...within(pass, one.lag - one.answer) },
    chunkWait: Math.max(0, chunk.lag - one.lag - ofChunk),
    delivery,
  };
}

/** The time it takes as waiting beyond its CPU, or as the share of its CPU that has room in it. */
function within(
  { process, database }: { readonly process: number; readonly database: number },
  took: number,
): { readonly wait: number; readonly onPath: number } {
  const cpu = process + database;
  return { wait: Math.max(0, took - cpu), onPath: cpu === 0 ? 1 : Math.min(1, Math.max(0, took) / cpu) };
}

/** One after the other, each when the one before has been delivered. */
async function play(
  world: FanOutWorld,
  refId: string,
  count: number,
): Promise<{ readonly lags: number[]; readonly answers: number[] }> {
  const lags: number[] = [];
  const answers: number[] = [];
  for (let n = 0; n < count; n += 1) {
    answers.push(await world.publish(refId));
    if (refId === ONE) await setTimeout(APART_MS);
    else lags.push(...(await world.drained()).map(({ lag }) => lag));
  }
  if (refId === ONE) lags.push(...(await world.drained()).map(({ lag }) => lag));
  return { lags, answers };
}

/** Seconds of CPU a second that the parts use without work. */
async function idleCpu(world: FanOutWorld): Promise<PartsCpu> {
  const before = world.cpu();
  await setTimeout(IDLE_MS);
  return less(world.cpu(), before, () => 0, 1_000 / IDLE_MS);
}

function less(
  after: PartsCpu,
  before: PartsCpu,
  idle: (part: keyof PartsCpu) => number,
  scale: number,
): PartsCpu {
  const of = (part: keyof PartsCpu): number => Math.max(0, after[part] - before[part] - idle(part)) * scale;
  return {
    ...{ api: of('api'), worker: of('worker'), database: of('database') },
    ...{ redis: of('redis'), benchmark: of('benchmark') },
  };
}
