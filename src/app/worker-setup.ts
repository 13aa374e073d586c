import type { Config } from '../config/config.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { DueLooks } from '../workers/due-looks.ts';
import type { LaneGate } from '../workers/fan-out/lane-gate.ts';
import type { Core } from '../services/core.ts';

export interface WorkerSetup {
  readonly config: Config;
  readonly core: Core;
  readonly workerId: string;
  readonly gate: LaneGate;
  readonly dueLooks: DueLooks;
  readonly logger: Logger;
  readonly metrics: Metrics;
}
