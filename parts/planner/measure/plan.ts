import { cpus } from 'node:os';
import { fanOutCosts } from '../src/fan-out-system.ts';
import type { FanOutSystem } from '../src/simulation/system.ts';
import type { UnitCosts } from '../src/unit-costs.ts';
import type { PartReport } from '../../../bench/harness/report.ts';
import { followForCosts, measureFanOutCosts, type CostSizes, type MeasuredCosts } from './fan-out-costs.ts';
import { openFanOutWorld, type FanOutWorld } from './fan-out-world.ts';
import { roundsOf, sized, type Part, type PartContext } from '../../../bench/harness/part.ts';
import { casesOf, check, prepare, type Checked } from './plan-cases.ts';
import { measureWake } from './wake-costs.ts';
import { reportPlan } from './plan-report.ts';

const DATABASE = 'bench_plan';
const SEED = 19;
/** Of a first claim. */
const LEASE_SECONDS = 3;

/** The simulation of `fanfare plan` beside real processes: at three sizes, in a burst, with two workers, and with one lost. */
export const planPart: Part = { name: 'plan', run };

async function run({ environment, options, say }: PartContext): Promise<PartReport> {
  const { rounds } = roundsOf(options, { full: [3, 0], short: [1, 0], smoke: [1, 0] });
  const cases = sized(options, {
    full: casesOf({ seconds: 10, members: [1_000, 10_000, 50_000], manyActions: 1_050 / rounds }),
    short: casesOf({ seconds: 10, members: [1_000, 10_000, 30_000], manyActions: 200 }),
    smoke: casesOf({ seconds: 1, members: [50, 200, 500], manyActions: 5 }),
  });
  const wakes = sized(options, {
    full: { count: 150, turns: 3, many: 6 },
    short: { count: 150, turns: 1, many: 6 },
    smoke: { count: 3, turns: 1, many: 3 },
  });
  const wake = await measureWake(environment, `${DATABASE}_wake`, wakes);
  const of = { environment, env: { CELEBRITY_THRESHOLD: '1000000' } };
  await using one = await openFanOutWorld({ ...of, database: DATABASE });
  await using two = await openFanOutWorld({ ...of, database: `${DATABASE}_two`, workers: 2 });
  const worldOf = (workers: number): FanOutWorld => (workers === 1 ? one : two);
  const sizes: CostSizes = sized(options, {
    full: { one: 300, chunk: 30, pairs: 30, bursts: 12, followers: 5_000 },
    short: { one: 150, chunk: 20, pairs: 20, bursts: 6, followers: 5_000 },
    smoke: { one: 3, chunk: 2, pairs: 1, bursts: 1, followers: 1_500 },
  });
  for (const workers of [1, 2])
    for (const scale of new Set(cases.filter((each) => each.workers === workers).map((each) => each.scale)))
      await prepare(worldOf(workers), scale);
  await followForCosts(one, sizes);
  const checked: Checked[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const costs = { ...(await measureFanOutCosts(one, sizes)), wake };
    for (const each of cases) {
      const found = await check(worldOf(each.workers), each, {
        ...{ system: systemOf(each.workers, costs), idle: costs.idle },
        seed: SEED + checked.filter(({ name }) => name === each.name).length,
      });
      const { name, measured, predicted, cpu, others } = found;
      say(`${name}: ${JSON.stringify({ measured, predicted, cpu, others })}`);
      checked.push(found);
    }
    say(JSON.stringify(costs));
  }
  return reportPlan(checked);
}

/** This machine as the simulation has it: the cores that the processes leave while there is nothing to do. */
function systemOf(
  workers: number,
  { delivery, idle, ...costs }: MeasuredCosts & Pick<UnitCosts, 'wake'>,
): FanOutSystem {
  return {
    ...{ workers, isOneMachine: true, concurrency: 16, chunkSize: 1_000 },
    databaseCores: cpus().length - idle,
    ...{ leaseSeconds: LEASE_SECONDS, pollSeconds: 1 },
    costs: fanOutCosts(
      { ...costs, models: { items: { delivery, bytes: { database: 0, redis: 0 } } } },
      'items',
    ),
  };
}
