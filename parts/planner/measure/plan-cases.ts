import { setTimeout } from 'node:timers/promises';
import { arrivalsOf } from '../src/arrivals.ts';
import { popularity, type Stratum } from '../src/popularity.ts';
import { simulateFanOut, type SimulationResult } from '../src/simulation/simulate.ts';
import type { Arrival, FanOutSystem } from '../src/simulation/system.ts';
import { OthersAtWork } from './others-at-work.ts';
import { quantile } from '../../../bench/harness/statistics.ts';
import { cpuOfAll, type FanOutWorld } from './fan-out-world.ts';

/** A size of installation, and what is published in it. */
export interface Scale {
  readonly members: number;
  readonly refs: number;
}

/** What is published, and what becomes of the workers. */
export interface Case {
  readonly name: string;
  readonly scale: Scale;
  readonly workers: 1 | 2;
  readonly arrivals: (system: FanOutSystem, seed: number) => readonly Arrival[];
  /** When the first worker dies, by the share of the time that all would take with it; null: never. */
  readonly lostAfter: number | null;
}

/** Milliseconds. */
export interface Lagged {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  readonly mean: number;
}

/** What was measured in one run, beside what the simulation says. */
export interface Checked {
  readonly name: string;
  readonly actions: number;
  readonly deliveries: number;
  readonly measured: Lagged;
  readonly predicted: Lagged;
  /** CPU seconds of all parts: what they used, and what the simulation counts with. Null: a process has ended meanwhile. */
  readonly cpu: { readonly measured: number; readonly predicted: number } | null;
  /** Cores that something else was at work on meanwhile. */
  readonly others: number;
  /** Milliseconds of each action, sorted. */
  readonly lags: { readonly measured: readonly number[]; readonly predicted: readonly number[] };
}

const LONGEST_SECONDS = 40;
const BURST = 40;
const BACKLOG = 80;

/** @param of.manyActions how many there are to be of the smallest size, the one that tells of rare ones. */
export function casesOf(of: {
  readonly seconds: number;
  readonly members: readonly [small: number, middle: number, large: number];
  readonly manyActions: number;
}): readonly Case[] {
  const { seconds, members, manyActions } = of;
  const [small, middle, large] = [
    { members: members[0], refs: 40 },
    { members: members[1], refs: 100 },
    { members: members[2], refs: 200 },
  ];
  const byChance =
    (scale: Scale, load: number, options: Partial<Parameters<typeof arrivalsOf>[0]> = {}): Case['arrivals'] =>
    (system, seed) =>
      arrivalsOf({
        ...{ strata: strataOf(scale), rate: rateOf(scale, system, load) },
        ...{ seconds, threshold: Infinity, seed, ...options },
      });
  const sizeOf = ({ members: count }: Scale): string => `${count.toLocaleString('en')} members`;
  const usual = { workers: 1 as const, lostAfter: null };
  return [
    {
      ...{ ...usual, scale: small, name: sizeOf(small) },
      arrivals: (system, seed) => {
        const enough = Math.min(LONGEST_SECONDS, manyActions / rateOf(small, system, 0.25));
        return byChance(small, 0.25, { seconds: Math.max(seconds, enough) })(system, seed);
      },
    },
    { ...usual, scale: middle, name: sizeOf(middle), arrivals: byChance(middle, 0.4) },
    { ...usual, scale: large, name: sizeOf(large), arrivals: byChance(large, 0.5) },
    {
      ...{ ...usual, scale: middle, name: `${sizeOf(middle)}, ${String(BURST)} actions at once` },
      arrivals: byChance(middle, 0.25, { bursts: [{ at: seconds / 4, actions: BURST, lane: 'LIVE' }] }),
    },
    {
      ...{ workers: 2, lostAfter: null, scale: middle, name: `${sizeOf(middle)}, two workers` },
      arrivals: byChance(middle, 0.4),
    },
    {
      ...{ workers: 2, lostAfter: 0.5, scale: middle },
      name: `${sizeOf(middle)}, ${String(BACKLOG)} actions at once, one of two workers is killed`,
      arrivals: byChance(middle, 0.5, {
        ...{ seconds: 0, bursts: [{ at: 0, actions: BACKLOG, lane: 'LIVE' }] },
      }),
    },
  ];
}

/** With whole followers, so that each popularity is one ref. */
function strataOf({ members, refs }: Scale): readonly Stratum[] {
  const strata = popularity({ ...{ members, refs }, follows: 3, exponent: 1, activityExponent: 0.5 });
  return strata.map((stratum) => ({ ...stratum, followers: Math.round(stratum.followers) }));
}

/** Actions a second that make a load, by the simulation's own account. */
function rateOf(scale: Scale, { costs, databaseCores }: FanOutSystem, load: number): number {
  const { publish, pass, delivery } = costs;
  const mean = strataOf(scale).reduce((sum, { followers, actionShare }) => sum + followers * actionShare, 0);
  const work =
    publish.process +
    publish.database +
    pass.process +
    pass.database +
    mean * (delivery.process + delivery.database);
  return (load * databaseCores) / work;
}

/** One ref of each popularity there is. */
export async function prepare(world: FanOutWorld, scale: Scale): Promise<void> {
  const counts = strataOf(scale).map(({ followers }) => followers);
  for (const count of new Set(counts)) if (count > 0) await world.follow(refOf(scale, count), count);
}

function refOf({ members }: Scale, readers: number): string {
  return `site-${String(members)}-${String(readers)}`;
}

export async function check(
  world: FanOutWorld,
  { name, scale, lostAfter, ...of }: Case,
  { system, idle, seed }: { readonly system: FanOutSystem; readonly idle: number; readonly seed: number },
): Promise<Checked> {
  const arrivals = of.arrivals(system, seed);
  const lostAt = lostAfter === null ? null : lostAfter * simulateFanOut(system, arrivals).drainedAt;
  const others = new OthersAtWork();
  const cpuBefore = cpuOfAll(world.cpu());
  const startedAt = performance.now();
  const start = Date.now() + 200;
  const wait = async (dueAt: number): Promise<void> => {
    if (dueAt > Date.now()) await setTimeout(dueAt - Date.now());
  };
  const lose = async (at: number): Promise<void> => {
    await wait(start + at * 1_000);
    await world.killWorker();
  };
  const lost = lostAt === null ? null : lose(lostAt);
  const sent: Promise<number>[] = [];
  for (const { at, readers } of arrivals) {
    const dueAt = start + at * 1_000;
    await wait(dueAt);
    sent.push(world.publish(refOf(scale, readers), dueAt));
  }
  await Promise.all(sent);
  await lost;
  const lags = (await world.drained()).map(({ lag }) => lag).sort((a, b) => a - b);
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = cpuOfAll(world.cpu()) - cpuBefore - idle * seconds;
  const othersAtWork = others.cores();
  if (lost !== null) await world.replaceWorker();
  const loss = lostAt === null ? null : { worker: 0, at: lostAt, backAfter: null };
  const result = simulateFanOut(system, arrivals, loss);
  const predicted = simulatedLags(result, arrivals.length);
  return {
    name,
    actions: arrivals.length,
    deliveries: arrivals.reduce((sum, { readers }) => sum + readers, 0),
    measured: lagged(lags),
    predicted: lagged(predicted),
    cpu:
      lost === null
        ? { measured: used, predicted: result.databaseUse * system.databaseCores * result.drainedAt }
        : null,
    others: othersAtWork,
    lags: { measured: lags, predicted },
  };
}

function simulatedLags({ actions }: SimulationResult, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => actions.quantile((index + 1) / count) * 1_000);
}

function lagged(lags: readonly number[]): Lagged {
  return {
    p50: quantile(lags, 0.5),
    p99: quantile(lags, 0.99),
    most: Math.max(...lags),
    mean: lags.reduce((sum, lag) => sum + lag, 0) / lags.length,
  };
}
