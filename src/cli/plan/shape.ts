import type { Cores, Machines } from './machines.ts';
import type { Operations, Pulled } from './operations.ts';
import type { Stored } from './storage.ts';
import type { UnitCosts } from './unit-costs.ts';
import type { Workload } from './workload.ts';

/** Seconds from publishing to when a reader has it, by reader. */
export interface Lag {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Of the last one. */
  readonly most: number;
}

export interface ThresholdCost {
  readonly threshold: number;
  readonly deliveries: number;
  /** Pulled refs that a reader follows, on average. */
  readonly pulledFollowed: number;
  /** Busy cores of all machines together. */
  readonly cores: number;
  /** Until the last follower of the largest ref that is pushed has an action, in seconds. */
  readonly lastFollower: number;
}

export interface Plan {
  readonly workload: Workload;
  readonly measured: UnitCosts['measured'];
  readonly operations: Operations;
  readonly pulled: Pulled;
  readonly cores: Cores;
  /** Worker processes, and how many of them are enough. */
  readonly workers: number;
  readonly suffices: number;
  readonly shards: number;
  readonly machines: Machines;
  readonly storage: readonly Stored[];
  readonly lag: Lag;
  /** The worker with most to do dies when the queue is longest, and is back after ten seconds. */
  readonly lagWithWorkerLost: Lag;
  readonly simulated: { readonly actions: number; readonly seconds: number };
  /** Followers of the ref that has most of them. */
  readonly largest: number;
  readonly thresholds: readonly ThresholdCost[];
  readonly advice: readonly string[];
}
