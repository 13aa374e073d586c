import type { Lane } from '../../../domain/lane.ts';

/** Seconds of one piece of work: CPU where it is done, and waiting that takes nobody's CPU, as for a disk. */
export interface WorkCost {
  readonly process: number;
  readonly database: number;
  readonly wait: number;
  /** Share of the CPU that has to be done before it has ended; the rest comes beside or after it. Default: all of it. */
  readonly onPath?: number;
  /**
   * CPU of each where many are under way at once: to be woken, to find that nothing is left and to wait for the next one
   * is done once for all of them. Default: as much as alone.
   */
  readonly amongMany?: Pick<WorkCost, 'process' | 'database'>;
}

/** What one of so many costs that are under way: what they have to themselves, and its part of what is done once for all. */
export function costAmong(cost: WorkCost, count: number): WorkCost {
  const { amongMany } = cost;
  if (amongMany === undefined) return cost;
  const of = (part: 'process' | 'database'): number =>
    amongMany[part] + (cost[part] - amongMany[part]) / Math.max(1, count);
  return { ...cost, process: of('process'), database: of('database') };
}

/** What the parts of a fan-out cost, in seconds. */
export interface FanOutCosts {
  readonly publish: WorkCost;
  /** A pass as such, whatever its audience: from finding it to writing that it is done. */
  readonly pass: WorkCost;
  /** A worker that is woken and finds that others have taken what there was, or nothing. Default: no more than its commands. */
  readonly wake?: Pick<WorkCost, 'process' | 'database'>;
  /** One reader of a chunk. */
  readonly delivery: Pick<WorkCost, 'process' | 'database'>;
  /** Of a chunk, whatever its size. */
  readonly chunkWait: number;
}

export interface FanOutSystem {
  readonly workers: number;
  readonly databaseCores: number;
  /** Everything shares the cores of the database: a machine with all of it. */
  readonly isOneMachine: boolean;
  /** Fan-outs of one lane that a worker runs side by side. */
  readonly concurrency: number;
  /** Readers written to at once. */
  readonly chunkSize: number;
  /** How long a fan-out of a worker that died waits for another one, in seconds. */
  readonly leaseSeconds: number;
  /** How often an idle worker looks for what nobody wakes it for. */
  readonly pollSeconds: number;
  readonly costs: FanOutCosts;
}

export interface Arrival {
  /** In seconds from the beginning. */
  readonly at: number;
  readonly lane: Lane;
  /** To whom it is pushed. */
  readonly readers: number;
}

export interface LostWorker {
  /** `busiest`: the one that has most readers left in the fan-outs it has taken by then. */
  readonly worker: number | 'busiest';
  readonly at: number;
  /** Seconds until it is back; null: it stays away. */
  readonly backAfter: number | null;
}
