import type { Arrival, FanOutSystem } from './simulation/system.ts';

/** With more workers than this, a part of them is simulated with the same part of everything else. */
const MOST_WORKERS = 250;
/** With more chunks than this, several are simulated as one that takes as long. */
const MOST_CHUNKS = 150_000;

/** Ratio of the installation to the simulated part. Delays in the whole are at most those in the part. */
export function partsOf(workers: number): number {
  return Math.ceil(workers / MOST_WORKERS);
}

export function partOf(system: FanOutSystem): FanOutSystem {
  const parts = partsOf(system.workers);
  return {
    ...system,
    workers: Math.ceil(system.workers / parts),
    databaseCores: Math.max(0.5, system.databaseCores / parts),
  };
}

/** Limits the number of chunks to what can be simulated in seconds. */
export function inChunks(system: FanOutSystem, arrivals: readonly Arrival[]): FanOutSystem {
  const chunks = arrivals.reduce((sum, { readers }) => sum + Math.ceil(readers / system.chunkSize), 0);
  const factor = Math.max(1, chunks / MOST_CHUNKS);
  return {
    ...system,
    chunkSize: Math.ceil(system.chunkSize * factor),
    costs: { ...system.costs, chunkWait: system.costs.chunkWait * factor },
  };
}
