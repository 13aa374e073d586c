import { dormancy } from '../fan-out/audience.ts';
import { FanOutWorker, type FanOutObserver } from '../fan-out/fan-out-worker.ts';
import { RebuildWorker } from '../features/rebuild/jobs/rebuild-worker.ts';
import type { BackgroundWorker } from '../jobs/background-worker.ts';
import type { JobSetup } from '../jobs/job.ts';
import {
  logFanOutAttemptFailed,
  logFanOutFinished,
  logFanOutGivenUp,
  logFanOutOvertaken,
  logFeedRebuilt,
  logLeaseLost,
  logWorkerTrouble,
} from '../telemetry/events/workers.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createStackOnce } from '../telemetry/stack-once.ts';

/** Workers that deliver actions to feeds and keep feed contents up to date. */
export function feedWorkers(setup: JobSetup): BackgroundWorker[] {
  return [fanOut(setup), rebuilds(setup)];
}

function fanOut(setup: JobSetup): FanOutWorker {
  const { core, workerId, gate, logger, metrics } = setup;
  const { feeds, fanOut } = setup.config;
  const { chunkSize, leaseMs, maxAttempts, concurrency, pollMs } = fanOut;
  return new FanOutWorker(core, {
    ...{ workerId, chunkSize, leaseMs, maxAttempts, concurrency, pollMs, gate },
    skipDormant: dormancy(core, feeds),
    observer: fanOutObserver(logger, metrics),
  });
}

function rebuilds(setup: JobSetup): RebuildWorker {
  const { core, gate, logger } = setup;
  const { leaseMs, pollMs } = setup.config.fanOut;
  return new RebuildWorker(core, {
    ...{ leaseMs, pollMs, gate },
    observer: {
      rebuilt: (userId, seconds) => {
        logFeedRebuilt(logger, { userId, seconds });
      },
      failed: (err) => {
        logWorkerTrouble(logger, { err });
      },
    },
  });
}

function fanOutObserver(logger: Logger, metrics: Metrics): FanOutObserver {
  const failure = createStackOnce();
  return {
    finished(claim, { delivered, seconds, isDone, lagSeconds }) {
      const state = isDone ? 'DONE' : 'PENDING';
      metrics.fanOutFinished({ state, delivered, seconds });
      if (lagSeconds !== null) metrics.actionDelivered({ lane: claim.lane, lagSeconds });
      logFanOutFinished(logger, {
        actionId: claim.action.id,
        state,
        lane: claim.lane,
        version: claim.version,
        delivered,
        seconds,
      });
    },
    overtaken(claim) {
      logFanOutOvertaken(logger, { actionId: claim.action.id, version: claim.version });
    },
    leaseLost(claim) {
      metrics.leaseLost();
      logLeaseLost(logger, { actionId: claim.action.id, worker: claim.token });
    },
    failed(claim, err, isFinal) {
      metrics.fanOutAttemptFailed();
      const { action, attempts } = claim;
      if (isFinal) logFanOutGivenUp(logger, { actionId: action.id, attempts, ...failure(err) });
      else logFanOutAttemptFailed(logger, { actionId: action.id, attempt: attempts, ...failure(err) });
    },
    claimFailed(err) {
      logWorkerTrouble(logger, { err });
    },
  };
}
