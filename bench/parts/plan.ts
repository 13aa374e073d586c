import { fanOutCosts } from '../../src/cli/plan/fan-out-system.ts';
import { simulateFanOut } from '../../src/cli/plan/simulation/simulate.ts';
import type { Arrival, FanOutSystem } from '../../src/cli/plan/simulation/system.ts';
import type { UnitCosts } from '../../src/cli/plan/unit-costs.ts';
import type { PartReport } from '../harness/report.ts';
import {
  followForCosts,
  measureFanOutCosts,
  type CostSizes,
  type MeasuredCosts,
} from '../world/fan-out-costs.ts';
import { openFanOutWorld, type FanOutWorld } from '../world/fan-out-world.ts';
import { roundsOf, sized, type Part, type PartContext } from './part.ts';
import { casesOf, check, prepare, type Checked } from './plan-cases.ts';
import { followForWaking, measureWake } from '../world/wake-costs.ts';
import { keptRounds } from './plan-kept.ts';
import { reportPlan } from './plan-report.ts';

const DATABASE = 'bench_plan';
const SEED = 19;
const BACKLOG_REF = 'site-of-the-backlog';
const BACKLOG_READERS = 3_000;
/** Of the world with two workers, one of which is lost: short, so that the run is. */
const LEASE_SECONDS = 6;

/** The simulation of `fanfare plan` beside real processes: at three sizes, in a burst, with two workers, and with one lost. */
export const planPart: Part = { name: 'plan', run };

async function run({ environment, options, say }: PartContext): Promise<PartReport> {
  const rounds = roundsOf(options, { full: 3, short: 1, smoke: 1 });
  const all = sized(options, {
    full: casesOf({ seconds: 10, members: [1_000, 10_000, 50_000], manyActions: 1_050 / rounds }),
    short: casesOf({ seconds: 10, members: [1_000, 10_000, 30_000], manyActions: 200 }),
    smoke: casesOf({ seconds: 1, members: [50, 200, 500], manyActions: 5 }),
  });
  const cases = all.filter(({ name }) => name.includes(options.only ?? ''));
  if (cases.length === 0)
    throw new Error(
      `There is no run "${options.only ?? ''}"; there are ${all.map(({ name }) => name).join('; ')}`,
    );
  const of = { environment, env: { CELEBRITY_THRESHOLD: '1000000' } };
  await using one = await openFanOutWorld({ ...of, database: DATABASE });
  await using two = await openFanOutWorld({
    ...{ ...of, database: `${DATABASE}_two`, workers: 2 },
    env: { ...of.env, FAN_OUT_LEASE: `${String(LEASE_SECONDS)}s` },
  });
  const worldOf = (workers: number): FanOutWorld => (workers === 1 ? one : two);
  const sizes: CostSizes = sized(options, {
    full: { one: 60, chunk: 20, many: 3, bursts: 4, followers: 20_000 },
    short: { one: 40, chunk: 10, many: 2, bursts: 3, followers: 20_000 },
    smoke: { one: 3, chunk: 2, many: 1, bursts: 1, followers: 1_500 },
  });
  const backlog = sized(options, { full: 12, short: 12, smoke: 2 });
  const times = sized(options, { full: 3, short: 2, smoke: 1 });
  const wakes = sized(options, {
    full: { count: 60, turns: 3 },
    short: { count: 40, turns: 1 },
    smoke: { count: 3, turns: 1 },
  });
  for (const workers of [1, 2])
    for (const scale of new Set(cases.filter((each) => each.workers === workers).map((each) => each.scale)))
      await prepare(worldOf(workers), scale);
  for (const world of [one, two]) await world.follow(BACKLOG_REF, BACKLOG_READERS);
  await followForCosts(one, sizes);
  await followForWaking([one, two]);
  const checked: Checked[] = options.more ? [...keptRounds(options)] : [];
  for (let round = 0; round < rounds; round += 1) {
    const costs = {
      ...(await measureFanOutCosts(one, sizes)),
      wake: await measureWake(one, two, wakes),
    };
    for (const each of cases) {
      const world = worldOf(each.workers);
      // Right before and right after, so that both have met the same machine.
      const backlogs = async (): Promise<FanOutSystem[]> => {
        const found: FanOutSystem[] = [];
        for (let n = 0; n < times; n += 1) found.push(await fitted(world, each.workers, { costs, backlog }));
        return found;
      };
      const found = await check(world, each, {
        ...{ before: await backlogs(), after: backlogs },
        seed: SEED + checked.filter(({ name }) => name === each.name).length,
      });
      const { name, measured, predicted, bounds, others } = found;
      say(`${name}: ${JSON.stringify({ measured, predicted, bounds, others })}`);
      checked.push(found);
    }
    say(JSON.stringify(costs));
  }
  return reportPlan(checked);
}

/** The machine as the simulation has it: as many cores as make a backlog last as long as it does here. */
async function fitted(
  world: FanOutWorld,
  workers: number,
  {
    costs: { delivery, ...costs },
    backlog,
  }: {
    readonly costs: MeasuredCosts & Pick<UnitCosts, 'wake'>;
    readonly backlog: number;
  },
): Promise<FanOutSystem> {
  const readers = BACKLOG_READERS;
  const at = Date.now();
  await Promise.all(Array.from({ length: backlog }, () => world.publish(BACKLOG_REF, at)));
  const drained = Math.max(...(await world.drained()).map(({ lag }) => lag)) / 1_000;
  const leaseSeconds = workers === 1 ? 30 : LEASE_SECONDS;
  const system = (databaseCores: number): FanOutSystem => ({
    ...{ workers, databaseCores, isOneMachine: true, concurrency: 16, chunkSize: 1_000 },
    ...{ leaseSeconds, pollSeconds: 1 },
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
