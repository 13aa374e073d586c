import { CommandError } from '../../../src/cli/context.ts';
import { adviceFor } from './advice.ts';
import { arrivalsOf, type Burst } from './arrivals.ts';
import { fanOutCosts } from './fan-out-system.ts';
import { coresOf, machinesOf, shardsOf, withWaking, workersFor } from './machines.ts';
import { DAY_SECONDS, operationsOf, pulledBy, pushedUpTo, strataOf, type Operations } from './operations.ts';
import type { Stratum } from './popularity.ts';
import { inChunks, partOf, partsOf } from './simulation-size.ts';
import { simulateFanOut, type SimulationResult } from './simulation/simulate.ts';
import type { Arrival, FanOutSystem } from './simulation/system.ts';
import type { Lag, Plan, ThresholdCost } from './shape.ts';
import { storageOf } from './storage.ts';
import type { UnitCosts } from './unit-costs.ts';
import type { Workload } from './workload.ts';

const LEASE_SECONDS = 3;
const POLL_SECONDS = 1;
const CHUNK = 1_000;
const CONCURRENCY = 16;
/** Number of simulated actions: enough for stable results within a short time. */
const MOST_SECONDS = 120;
const MOST_ACTIONS = 10_000;
const MOST_CHUNKS = 30_000;
/** Every worker hears of every action. */
const MOST_HEARINGS = 500_000;
const BACK_AFTER = 10;
/** Thresholds compared with the requested one. */
const THRESHOLDS = [1_000, 10_000, 100_000, 1_000_000, Infinity];

/** What is worked out without a simulation: how much there is to do and to store, and what it takes. */
export type Size = Pick<
  Plan,
  'workload' | 'operations' | 'pulled' | 'cores' | 'workers' | 'suffices' | 'shards' | 'storage' | 'machines'
> & {
  /** Refs by their popularity, in groups. */
  readonly strata: readonly Stratum[];
};

/** @throws CommandError when there are no costs for the feed model. */
export function sizeOf(workload: Workload, costs: UnitCosts): Size {
  const { model, cores: coresEach } = workload;
  if (!(model in costs.models))
    throw new CommandError(
      `There are no unit costs for the feed model ${model}, only for ${Object.keys(costs.models).join(', ')}`,
    );
  const strata = strataOf(workload);
  const operations = operationsOf(workload, strata);
  const pulled = pulledBy(strata, workload.members, pushedUpTo(workload));
  const workOnly = coresOf(costs, operations, pulled, model);
  const suffices = workersFor(costs, workOnly, operations);
  const workers = workload.workers ?? suffices;
  const cores = withWaking(costs, workOnly, { ...operations, workers });
  const storage = storageOf(workload, costs, operations);
  const bytes = storage.reduce((sum, entry) => sum + (entry.where === 'database' ? entry.bytes : 0), 0);
  const shards = shardsOf(cores, bytes, coresEach);
  const machines = machinesOf(cores, { workers, shards }, coresEach);
  return { strata, workload, operations, pulled, cores, workers, suffices, shards, storage, machines };
}

/** @throws CommandError when there are no costs for the feed model. */
export function planOf(workload: Workload, costs: UnitCosts): Plan {
  const { strata, ...size } = sizeOf(workload, costs);
  const { operations, workers } = size;
  const system = partOf(systemOf({ ...size, costs }));
  const parts = partsOf(workers);
  const window = simulatedWindow(
    { ...workload, burst: Math.ceil(workload.burst / parts) },
    { ...operations, actions: operations.actions / parts, deliveries: operations.deliveries / parts },
    { strata, workers: system.workers },
  );
  const simulated = inChunks(system, window.arrivals);
  const planned = simulateFanOut(simulated, window.arrivals);
  const lost = { worker: 'busiest', at: planned.longestAt, backAfter: BACK_AFTER } as const;
  const plan = {
    ...size,
    measured: costs.measured,
    thresholds: thresholdsOf(workload, costs, strata, system),
    lag: lagOf(planned),
    lagWithWorkerLost: lagOf(simulateFanOut(simulated, window.arrivals, lost)),
    simulated: { actions: window.arrivals.length, seconds: window.seconds },
    largest: Math.floor(Math.max(...strata.map(({ followers }) => followers))),
  };
  return { ...plan, advice: adviceFor(plan) };
}

interface SystemOptions extends Pick<Plan, 'workload' | 'operations' | 'pulled' | 'workers' | 'shards'> {
  readonly costs: UnitCosts;
}

/** The database as available to fan-outs: pages use a part of it. */
function systemOf({ workload, costs, operations, pulled, workers, shards }: SystemOptions): FanOutSystem {
  const all = shards * workload.cores;
  const onlyPages = { ...operations, actions: 0, deliveries: 0, events: 0 };
  const ofPages = coresOf(costs, onlyPages, pulled, workload.model).database;
  return {
    ...{ workers, isOneMachine: false, concurrency: CONCURRENCY, chunkSize: CHUNK },
    databaseCores: Math.max(0.5, all - ofPages),
    ...{ leaseSeconds: LEASE_SECONDS, pollSeconds: POLL_SECONDS },
    costs: fanOutCosts(costs, workload.model),
  };
}

/** The part of the busiest hour that can be simulated in seconds. */
function simulatedWindow(
  workload: Workload,
  operations: Operations,
  { strata, workers }: { readonly strata: readonly Stratum[]; readonly workers: number },
) {
  const rate = operations.actions;
  const chunks = Math.max(rate, operations.deliveries / CHUNK);
  const mostActions = Math.min(MOST_ACTIONS, MOST_HEARINGS / workers);
  const seconds = Math.min(MOST_SECONDS, mostActions / rate, MOST_CHUNKS / chunks);
  // A small installation has few actions: simulate enough of them for a distribution.
  const long = Math.max(seconds, Math.min(DAY_SECONDS, 1_000 / rate));
  const bursts: Burst[] =
    workload.burst === 0 ? [] : [{ at: long / 2, actions: workload.burst, lane: 'LIVE' }];
  const { seed } = workload;
  const threshold = pushedUpTo(workload);
  return { seconds: long, arrivals: arrivalsOf({ strata, rate, seconds: long, threshold, bursts, seed }) };
}

function thresholdsOf(
  workload: Workload,
  costs: UnitCosts,
  strata: readonly Stratum[],
  system: FanOutSystem,
): readonly ThresholdCost[] {
  if (workload.model === 'pull') return [];
  const asked = [...new Set([...THRESHOLDS, workload.threshold])].sort((a, b) => a - b);
  const model = workload.model;
  return asked.map((threshold) => {
    const operations = operationsOf({ ...workload, threshold }, strata);
    const pulled = pulledBy(strata, workload.members, threshold);
    const { api, worker, database, redis } = coresOf(costs, operations, pulled, model);
    const pushed = strata.filter(({ followers }) => followers <= threshold);
    const readers = Math.floor(Math.max(0, ...pushed.map(({ followers }) => followers)));
    const one: Arrival[] = [{ at: 0, lane: 'LIVE', readers }];
    return {
      ...{ threshold, deliveries: operations.deliveries, pulledFollowed: pulled.followed },
      cores: api + worker + database + redis,
      lastFollower: simulateFanOut(inChunks(system, one), one).drainedAt,
    };
  });
}

function lagOf({ readers }: SimulationResult): Lag {
  return {
    p50: readers.quantile(0.5),
    p99: readers.quantile(0.99),
    p999: readers.quantile(0.999),
    most: readers.quantile(1),
  };
}
