import type { Arrival, FanOutSystem } from './simulation/system.ts';

/** More workers than these are simulated as a part of them, with as large a part of everything else. */
const MOST_WORKERS = 1_000;
/** Beyond so many chunks several are simulated as one that takes as long as they do. */
const MOST_CHUNKS = 300_000;

/** How many times an installation is larger than what is simulated of it. Nobody waits longer in the whole than in the part. */
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

/** With as many chunks as can be played in seconds. */
export function inChunks(system: FanOutSystem, arrivals: readonly Arrival[]): FanOutSystem {
  const chunks = arrivals.reduce((sum, { readers }) => sum + Math.ceil(readers / system.chunkSize), 0);
  const factor = Math.max(1, chunks / MOST_CHUNKS);
  return {
    ...system,
    chunkSize: Math.ceil(system.chunkSize * factor),
    costs: { ...system.costs, chunkWait: system.costs.chunkWait * factor },
  };
}
