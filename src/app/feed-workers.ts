import { dormancy } from '../workers/fan-out/audience.ts';
import { FanOutWorker, type FanOutObserver } from '../workers/fan-out/fan-out-worker.ts';
import { RebuildWorker } from '../workers/rebuild/rebuild-worker.ts';
import { RenameWorker } from '../workers/rename/rename-worker.ts';
import { RescoreWorker } from '../workers/rescore/rescore-worker.ts';
import type { BackgroundWorker, DueLooks } from '../workers/background-worker.ts';
import {
  logFanOutAttemptFailed,
  logFanOutFinished,
  logFanOutGivenUp,
  logFanOutOvertaken,
  logFeedRebuilt,
  logLeaseLost,
  logNameCarried,
  logRenameAttemptFailed,
  logRescored,
  logWorkerTrouble,
} from '../telemetry/events/workers.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createStackOnce } from '../telemetry/stack-once.ts';
import type { Config } from '../config/config.ts';
import type { LaneGate } from '../workers/fan-out/lane-gate.ts';
import type { Core } from '../services/core.ts';

const RESCORE_POLL_MS = 10_000;

/** Workers that deliver actions to feeds and keep feed contents up to date. */
export function feedWorkers(setup: WorkerSetup): BackgroundWorker[] {
  return [fanOut(setup), rescores(setup), rebuilds(setup), renames(setup)];
}

function fanOut(setup: WorkerSetup): FanOutWorker {
  const { core, workerId, gate, logger, metrics } = setup;
  const { feeds, fanOut } = setup.config;
  const { chunkSize, leaseMs, maxAttempts, concurrency, pollMs } = fanOut;
  return new FanOutWorker(core, {
    ...{ workerId, chunkSize, leaseMs, maxAttempts, concurrency, pollMs, gate },
    skipDormant: dormancy(core, feeds),
    observer: fanOutObserver(logger, metrics),
  });
}

function rebuilds(setup: WorkerSetup): RebuildWorker {
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

function renames({ config, core, workerId, gate, dueLooks, logger }: WorkerSetup): RenameWorker {
  const { leaseMs, pollMs, chunkSize } = config.fanOut;
  const failure = createStackOnce();
  return new RenameWorker(core, {
    ...{ workerId, leaseMs, pollMs, gate, batchSize: chunkSize },
    isDue: () => dueLooks.isDue('rename'),
    observer: {
      carried: ({ id, version }, actions, seconds) => {
        logNameCarried(logger, { id, version, actions, seconds });
      },
      failed: ({ id, attempts }, err) => {
        logRenameAttemptFailed(logger, { id, attempt: attempts, ...failure(err) });
      },
      claimFailed: (err) => {
        logWorkerTrouble(logger, { err });
      },
    },
  });
}

function rescores({ config, core, logger }: WorkerSetup): RescoreWorker {
  const { leaseMs } = config.fanOut;
  return new RescoreWorker(core, {
    ...{ leaseMs, pollMs: RESCORE_POLL_MS },
    observer: {
      rescored: (generation, actions, seconds) => {
        logRescored(logger, { generation: generation.toISOString(), actions, seconds });
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

export interface WorkerSetup {
  readonly config: Config;
  readonly core: Core;
  readonly workerId: string;
  readonly gate: LaneGate;
  readonly dueLooks: DueLooks;
  readonly logger: Logger;
  readonly metrics: Metrics;
}
