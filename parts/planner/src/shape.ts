import type { Cores, Machines } from './machines.ts';
import type { Operations, Pulled } from './operations.ts';
import type { Stored } from './storage.ts';
import type { UnitCosts } from './unit-costs.ts';
import type { Workload } from './workload.ts';

/** Delivery delay per reader, in seconds. */
export interface Lag {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Of the last follower. */
  readonly most: number;
}

export interface ThresholdCost {
  readonly threshold: number;
  readonly deliveries: number;
  /** Average number of pulled refs a reader follows. */
  readonly pulledFollowed: number;
  /** Busy cores of all machines. */
  readonly cores: number;
  /** Delay until the last follower of the largest pushed ref has an action, in seconds. */
  readonly lastFollower: number;
}

export interface Plan {
  readonly workload: Workload;
  readonly measured: UnitCosts['measured'];
  readonly operations: Operations;
  readonly pulled: Pulled;
  readonly cores: Cores;
  /** Worker processes, and how many suffice. */
  readonly workers: number;
  readonly suffices: number;
  readonly shards: number;
  readonly machines: Machines;
  readonly storage: readonly Stored[];
  readonly lag: Lag;
  /** The busiest worker dies when the queue is longest, and is back after ten seconds. */
  readonly lagWithWorkerLost: Lag;
  readonly simulated: { readonly actions: number; readonly seconds: number };
  /** Followers of the most popular ref. */
  readonly largest: number;
  readonly thresholds: readonly ThresholdCost[];
  readonly advice: readonly string[];
}
