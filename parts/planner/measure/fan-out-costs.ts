import { setTimeout } from 'node:timers/promises';
import { quantile } from '../../../bench/harness/statistics.ts';
import type { UnitCosts } from '../src/unit-costs.ts';
import { cpuOfAll, type FanOutWorld, type PartsCpu } from './fan-out-world.ts';

/** How often each audience is measured. */
export interface CostSizes {
  readonly one: number;
  readonly chunk: number;
  /** Pairs of actions of many followers. */
  readonly pairs: number;
  /** Times that many actions of one follower are published at once. */
  readonly bursts: number;
  /** Followers of the largest, of which pairs are measured. */
  readonly followers: number;
}

export type MeasuredCosts = Pick<UnitCosts, 'publish' | 'pass' | 'chunkWait'> & {
  readonly delivery: UnitCosts['models'][string]['delivery'];
  /** Cores that all parts use while there is nothing to do. */
  readonly idle: number;
};

const CHUNK = 1_000;
/** Twice as long as the database waits before it tidies up again. */
const IDLE_MS = 10_000;
const APART_MS = 30;
const WARM_UP = 100;
/** Actions of a burst, and how many of them a worker has under way at a time, as `FAN_OUT_CONCURRENCY` has it by default. */
const BURST = 40;
const PASSES_AT_ONCE = 16;
const ONE = 'site-of-one';
const ONE_CHUNK = 'site-of-a-chunk';
const MANY = 'site-of-many';

interface Run {
  readonly lag: number;
  readonly answer: number;
  readonly cpu: PartsCpu;
}

/** Followers of what is measured with. Once for a database. */
export async function followForCosts(world: FanOutWorld, { followers }: CostSizes): Promise<void> {
  await world.follow(ONE, 1);
  await world.follow(ONE_CHUNK, CHUNK);
  await world.follow(MANY, followers);
}

/**
 * What the parts of a fan-out cost, from actions of one follower and of a chunk, one at a time on an idle machine, from pairs of
 * actions of many followers, and from many actions of one follower at once, where each costs less. CPU is what the processes
 * used, less what they use while idle; what is left of the time is waiting. The database tidies up every few seconds, so each
 * kind is to be measured for longer than that.
 */
export async function measureFanOutCosts(world: FanOutWorld, sizes: CostSizes): Promise<MeasuredCosts> {
  // Processes that were started a moment ago take twice the CPU for their first actions.
  await play(world, ONE, WARM_UP);
  await playBursts(world, 1);
  for (const refId of [ONE_CHUNK, MANY, ONE_CHUNK]) await play(world, refId, 5);
  const idle = await idleCpu(world);
  const cpuOf = async <T>(count: number, run: () => Promise<T>): Promise<{ cpu: PartsCpu; outcome: T }> => {
    const from = performance.now();
    const before = world.cpu();
    const outcome = await run();
    const seconds = (performance.now() - from) / 1_000;
    const cpu = less(world.cpu(), before, (part) => idle[part] * seconds, (1 / count) * 1e6);
    return { cpu, outcome };
  };
  const measure = async (refId: string, count: number): Promise<Run> => {
    const { cpu, outcome } = await cpuOf(count, () => play(world, refId, count));
    return {
      lag: quantile(outcome.lags, 0.5) * 1_000,
      answer: quantile(outcome.answers, 0.5) * 1_000,
      cpu,
    };
  };
  const one = await measure(ONE, sizes.one);
  const chunk = await measure(ONE_CHUNK, sizes.chunk);
  const many = await cpuOf(2 * sizes.pairs, () => playPairs(world, sizes.pairs));
  const each = (part: keyof PartsCpu): number =>
    Math.max(0, (many.cpu[part] - one.cpu[part]) / (sizes.followers - 1));
  const delivery = { process: each('worker'), database: each('database'), redis: each('redis') };
  // Publishing and the pass share the database's part: a mutation writes once, a pass reads and writes about twice.
  const publishOf = (cpu: PartsCpu): Cpu => ({
    process: cpu.api + cpu.benchmark,
    database: cpu.database / 3,
  });
  const passOf = (cpu: PartsCpu): Cpu => ({ process: cpu.worker, database: (cpu.database * 2) / 3 });
  const burst = await cpuOf(sizes.bursts * BURST, () => playBursts(world, sizes.bursts));
  const [publish, pass] = [publishOf(one.cpu), passOf(one.cpu)];
  const ofChunk = CHUNK * (delivery.process + delivery.database + delivery.redis);
  return {
    publish: {
      ...{ ...publish, ...within(publish, one.answer) },
      amongMany: ofItself(publishOf(burst.cpu), publish, BURST),
    },
    pass: {
      ...{ ...pass, ...within(pass, one.lag - one.answer) },
      amongMany: ofItself(passOf(burst.cpu), pass, PASSES_AT_ONCE),
    },
    chunkWait: Math.max(0, chunk.lag - one.lag - ofChunk),
    delivery,
    idle: cpuOfAll(idle),
  };
}

type Cpu = Pick<UnitCosts['pass'], 'process' | 'database'>;

/** What each has to itself, from what one of so many and one alone take: the rest is done once for all of them. */
function ofItself(among: Cpu, alone: Cpu, count: number): Cpu {
  const of = (part: keyof Cpu): number => Math.max(0, (among[part] * count - alone[part]) / (count - 1));
  return { process: of('process'), database: of('database') };
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

/** Two actions of many followers at once, then again: where many are delivered, there is seldom just one. */
async function playPairs(world: FanOutWorld, pairs: number): Promise<void> {
  for (let n = 0; n < pairs; n += 1) {
    await Promise.all([world.publish(MANY), world.publish(MANY)]);
    await world.drained();
  }
}

/** Many actions of one follower at once, then again when they are delivered. */
async function playBursts(world: FanOutWorld, bursts: number): Promise<void> {
  for (let n = 0; n < bursts; n += 1) {
    await Promise.all(Array.from({ length: BURST }, () => world.publish(ONE)));
    await world.drained();
  }
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
