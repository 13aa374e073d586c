import type { Config } from '../config/config.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { DueLooks } from '../workers/due-looks.ts';
import type { LaneGate } from '../workers/fan-out/lane-gate.ts';
import type { Core } from './core.ts';

export interface WorkerSetup {
  readonly config: Pick<Config, 'events' | 'fanOut' | 'feeds'>;
  readonly core: Core;
  readonly workerId: string;
  readonly gate: LaneGate;
  readonly dueLooks: DueLooks;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Repositories and all other dependencies of workers in one object. */
export function partsOf({ core, gate }: Pick<WorkerSetup, 'core' | 'gate'>) {
  const { repositories, feedStore, feedStores, liveLog, workSignal, sessionEnds, onLiveLogError } = core;
  return {
    ...repositories,
    ...{ feedStore, feedStores, liveLog, workSignal, sessionEnds, onLiveLogError, gate },
  };
}
