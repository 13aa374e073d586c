import { randomUUID } from 'node:crypto';
import { allEnded } from '../lib/all-ended.ts';
import type { Config } from '../config/config.ts';
import { logWorkerStarted, logWorkerStopped } from '../telemetry/events/workers.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { DueLooks } from '../workers/due-looks.ts';
import { LaneGate } from '../workers/fan-out/lane-gate.ts';
import type { Core } from '../services/core.ts';
import { eventWorkers } from './event-workers.ts';
import { feedWorkers } from './feed-workers.ts';
import { upkeepWorkers } from './upkeep-workers.ts';

/** Starts all background workers of a process. Disposing releases unfinished work. */
export function startWorkers(config: Config, core: Core, logger: Logger, metrics: Metrics): AsyncDisposable {
  const workerId = randomUUID();
  const setup = {
    config,
    core,
    workerId,
    gate: new LaneGate(),
    dueLooks: new DueLooks(core.dueWork),
    logger,
    metrics,
  };
  const workers = [...upkeepWorkers(setup), ...feedWorkers(setup), ...eventWorkers(setup)];
  for (const one of workers) one.start();
  logWorkerStarted(logger, {
    worker: workerId,
    concurrency: config.fanOut.concurrency,
    model: core.feedStore.model,
  });
  return {
    async [Symbol.asyncDispose]() {
      // Stop all of them concurrently and wait for each, even if another one fails.
      try {
        await allEnded(
          workers.map((one) => one.stop()),
          'Several workers could not be stopped cleanly',
        );
      } finally {
        logWorkerStopped(logger, { worker: workerId });
      }
    },
  };
}
