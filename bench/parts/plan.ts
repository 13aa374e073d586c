import { setTimeout } from 'node:timers/promises';
import { arrivalsOf } from '../../src/cli/plan/arrivals.ts';
import { fanOutCosts } from '../../src/cli/plan/fan-out-system.ts';
import { popularity, type Stratum } from '../../src/cli/plan/popularity.ts';
import { simulateFanOut, type SimulationResult } from '../../src/cli/plan/simulation/simulate.ts';
import type { Arrival, FanOutSystem } from '../../src/cli/plan/simulation/system.ts';
import { judge, type Figure, type PartReport, type Table } from '../harness/report.ts';
import { quantile, summarise } from '../harness/statistics.ts';
import { followForCosts, measureFanOutCosts, type CostSizes } from '../world/fan-out-costs.ts';
import { openFanOutWorld, type FanOutWorld } from '../world/fan-out-world.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_plan';
const SEED = 19;
const BACKLOG_REF = 'site-of-the-backlog';
const BACKLOG_READERS = 3_000;

/** A size of installation, and what is published in it. */
interface Scale {
  readonly name: string;
  readonly members: number;
  readonly refs: number;
  readonly seconds: number;
  /** Of what the machine can do, by the simulation's own account. */
  readonly load: number;
}

/** What was measured in one run at one size, beside what the simulation had said. */
interface Checked {
  readonly scale: Scale;
  readonly actions: number;
  readonly deliveries: number;
  readonly measured: Lagged;
  readonly predicted: Lagged;
}

/** Milliseconds. */
interface Lagged {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  readonly mean: number;
}

/** The simulation of `fanfare plan` beside real processes at three sizes. */
export const planPart: Part = { name: 'plan', run };

async function run({ environment, options, say }: PartContext): Promise<PartReport> {
  const scales = sized(options, {
    full: scalesOf(30, [1_000, 10_000, 50_000]),
    short: scalesOf(10, [1_000, 10_000, 30_000]),
    smoke: scalesOf(1, [50, 200, 500]),
  });
  const rounds = roundsOf(options, { full: 3, short: 1, smoke: 1 });
  await using world = await openFanOutWorld({
    environment,
    database: DATABASE,
    env: { CELEBRITY_THRESHOLD: '1000000' },
  });
  const sizes: CostSizes = sized(options, {
    full: { one: 60, chunk: 20, many: 4, followers: 20_000 },
    short: { one: 40, chunk: 10, many: 2, followers: 20_000 },
    smoke: { one: 3, chunk: 2, many: 1, followers: 1_500 },
  });
  const backlog = sized(options, { full: 30, short: 15, smoke: 2 });
  const checked: Checked[] = [];
  for (const scale of scales) await prepare(world, scale);
  await world.follow(BACKLOG_REF, BACKLOG_READERS);
  await followForCosts(world, sizes);
  for (let round = 0; round < rounds; round += 1)
    for (const scale of scales) {
      // Right before: so that both have met the same machine.
      const system = await fitted(world, await measureFanOutCosts(world, sizes), backlog);
      const one = await check(world, scale, { system, seed: SEED + round });
      say(`${scale.name}: ${JSON.stringify({ ...one, system })}`);
      checked.push(one);
    }
  return report(checked);
}

function scalesOf(seconds: number, members: readonly number[]): Scale[] {
  const [small = 0, middle = 0, large = 0] = members;
  const of = { seconds };
  return [
    { ...of, name: `${String(small)} members`, members: small, refs: 40, load: 0.3 },
    { ...of, name: `${String(middle)} members`, members: middle, refs: 100, load: 0.5 },
    { ...of, name: `${String(large)} members`, members: large, refs: 200, load: 0.6 },
  ];
}

/** The machine as the simulation has it: as many cores as make a backlog last as long as it does here. */
async function fitted(
  world: FanOutWorld,
  { delivery, ...costs }: Awaited<ReturnType<typeof measureFanOutCosts>>,
  backlog: number,
): Promise<FanOutSystem> {
  const readers = BACKLOG_READERS;
  const at = Date.now();
  await Promise.all(Array.from({ length: backlog }, () => world.publish(BACKLOG_REF, at)));
  const drained = Math.max(...(await world.drained()).map(({ lag }) => lag)) / 1_000;
  const system = (databaseCores: number): FanOutSystem => ({
    ...{ workers: 1, databaseCores, isOneMachine: true, concurrency: 16, chunkSize: 1_000, leaseSeconds: 30 },
    costs: fanOutCosts(
      { ...costs, models: { items: { delivery, bytes: { database: 0, redis: 0 } } } },
      'items',
    ),
  });
  const arrivals: Arrival[] = Array.from({ length: backlog }, () => ({ at: 0, lane: 'LIVE', readers }));
  let [low, high] = [0.1, 64];
  for (let n = 0; n < 20; n += 1) {
    const middle = (low + high) / 2;
    if (simulateFanOut(system(middle), arrivals).drainedAt > drained) low = middle;
    else high = middle;
  }
  return system(Math.min(high, 8));
}

/** With whole followers, so that each popularity is one ref. */
function strataOf({ members, refs }: Scale): readonly Stratum[] {
  const strata = popularity({ ...{ members, refs }, follows: 3, exponent: 1, activityExponent: 0.5 });
  return strata.map((stratum) => ({ ...stratum, followers: Math.round(stratum.followers) }));
}

/** One ref of each popularity there is. */
async function prepare(world: FanOutWorld, scale: Scale): Promise<void> {
  const counts = strataOf(scale).map(({ followers }) => followers);
  for (const count of new Set(counts)) if (count > 0) await world.follow(refOf(scale, count), count);
}

function refOf({ members }: Scale, readers: number): string {
  return `site-${String(members)}-${String(readers)}`;
}

async function check(
  world: FanOutWorld,
  scale: Scale,
  { system, seed }: { readonly system: FanOutSystem; readonly seed: number },
): Promise<Checked> {
  const strata = strataOf(scale);
  const { publish, pass, delivery } = system.costs;
  const mean = strata.reduce((sum, { followers, actionShare }) => sum + followers * actionShare, 0);
  const work =
    publish.process +
    publish.database +
    pass.process +
    pass.database +
    mean * (delivery.process + delivery.database);
  const rate = (scale.load * system.databaseCores) / work;
  const arrivals = arrivalsOf({ strata, rate, seconds: scale.seconds, threshold: Infinity, seed });
  const start = Date.now() + 200;
  const sent: Promise<number>[] = [];
  for (const { at, readers } of arrivals) {
    const dueAt = start + at * 1_000;
    if (dueAt > Date.now()) await setTimeout(dueAt - Date.now());
    sent.push(world.publish(refOf(scale, readers), dueAt));
  }
  await Promise.all(sent);
  const lags = (await world.drained()).map(({ lag }) => lag);
  return {
    scale,
    actions: arrivals.length,
    deliveries: arrivals.reduce((sum, { readers }) => sum + readers, 0),
    measured: {
      p50: quantile(lags, 0.5),
      p99: quantile(lags, 0.99),
      most: Math.max(...lags),
      mean: lags.reduce((sum, lag) => sum + lag, 0) / lags.length,
    },
    predicted: lagged(simulateFanOut(system, arrivals)),
  };
}

function lagged({ actions }: SimulationResult): Lagged {
  const ms = (share: number): number => actions.quantile(share) * 1_000;
  return { p50: ms(0.5), p99: ms(0.99), most: ms(1), mean: actions.mean * 1_000 };
}

/** Every figure of a run with what had been said of it. */
function report(checked: readonly Checked[]): PartReport {
  const names = [...new Set(checked.map(({ scale }) => scale.name))];
  const verdicts = names.flatMap((name) => {
    const runs = checked.filter(({ scale }) => scale.name === name);
    return (['p50', 'p99', 'mean'] as const).map((what) => {
      const ratios = runs.map(({ predicted, measured }) => predicted[what] / measured[what]);
      const figure: Figure = {
        name: `${name}: simulated / measured, ${what}`,
        unit: '×',
        summary: summarise(ratios, name),
      };
      return judge('plan', figure);
    });
  });
  const rows = checked.map(({ scale, actions, deliveries, predicted, measured }) => [
    ...[scale.name, actions, deliveries],
    ...(['p50', 'p99', 'most'] as const).map(
      (what) => `${predicted[what].toFixed(0)} / ${measured[what].toFixed(0)}`,
    ),
  ]);
  const table: Table = {
    columns: ['size', 'actions', 'deliveries', 'p50, ms: simulated / measured', 'p99, ms', 'slowest, ms'],
    rows,
  };
  return {
    title: 'The simulation of fanfare plan, beside real runs',
    about: [
      'Before each run unit costs are measured one at a time, and from how long a backlog takes how many cores there are. Then actions come by chance at three sizes, of refs with followers by Zipf’s law: real processes deliver them, and the simulation is given the same arrivals.',
      'The time is from when an action should have been published to when its last follower has it. The API, a worker, the database and what publishes share the machine.',
    ],
    figures: [],
    verdicts,
    tables: [table],
    charts: [],
    raw: { checked },
  };
}
