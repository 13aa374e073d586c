import type { Lane } from '../../../../src/domain/lane.ts';

/** Seconds for one piece of work: CPU, and waiting without CPU, as for a disk. */
export interface WorkCost {
  readonly process: number;
  readonly database: number;
  readonly wait: number;
  /** Share of the CPU needed before it has ended; the rest runs concurrently or later. Default: all of it. */
  readonly onPath?: number;
  /**
   * CPU of each when many run at once: waking up, finding nothing left and waiting for the next one happen once for all of
   * them. Default: the same as alone.
   */
  readonly amongMany?: Pick<WorkCost, 'process' | 'database'>;
}

/** Cost of one among several concurrent ones: its own part, and its share of the common part. */
export function costAmong(cost: WorkCost, count: number): WorkCost {
  const { amongMany } = cost;
  if (amongMany === undefined) return cost;
  const of = (part: 'process' | 'database'): number =>
    amongMany[part] + (cost[part] - amongMany[part]) / Math.max(1, count);
  return { ...cost, process: of('process'), database: of('database') };
}

/** Costs of a fan-out's parts, in seconds. */
export interface FanOutCosts {
  readonly publish: WorkCost;
  /** A pass without its audience: from finding it to recording its end. */
  readonly pass: WorkCost;
  /** An idle worker that hears of an action and leaves it to another one. Default: nothing. */
  readonly wake?: Pick<WorkCost, 'process' | 'database'>;
  /** One reader of a chunk. */
  readonly delivery: Pick<WorkCost, 'process' | 'database'>;
  /** One chunk, whatever its size. */
  readonly chunkWait: number;
}

export interface FanOutSystem {
  readonly workers: number;
  readonly databaseCores: number;
  /** Everything shares the database's cores: a single machine. */
  readonly isOneMachine: boolean;
  /** Concurrent fan-outs of one lane per worker. */
  readonly concurrency: number;
  /** Readers written at once. */
  readonly chunkSize: number;
  /** How long a dead worker's fan-outs wait for another worker, in seconds. */
  readonly leaseSeconds: number;
  /** Poll interval of an idle worker. */
  readonly pollSeconds: number;
  readonly costs: FanOutCosts;
}

/** An announcement of work, which one worker takes. */
export interface Offer {
  isTaken: boolean;
}

export interface Arrival {
  /** Seconds from the start. */
  readonly at: number;
  readonly lane: Lane;
  /** Readers it is pushed to. */
  readonly readers: number;
}

export interface LostWorker {
  /** `busiest`: the one with most readers left in its claimed fan-outs. */
  readonly worker: number | 'busiest';
  readonly at: number;
  /** Seconds until it is back; `null`: never. */
  readonly backAfter: number | null;
}
