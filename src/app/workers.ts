import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { RebuildWorker } from '../workers/rebuild/rebuild-worker.ts';
import { RenameWorker } from '../workers/rename/rename-worker.ts';
import { RescoreWorker } from '../workers/rescore/rescore-worker.ts';
import { dormancy } from '../workers/fan-out/skip-dormant.ts';
import { UpkeepWorker } from '../workers/upkeep/upkeep-worker.ts';
import { LaneGate } from '../workers/fan-out/lane-gate.ts';
import { FanOutWorker, type FanOutObserver } from '../workers/fan-out/fan-out-worker.ts';
import type { FeedStore } from '../feeds/feed-store.ts';
import type { LiveLog } from '../realtime/live-log.ts';
import type { SessionEnds } from '../realtime/session-ends.ts';
import type { WorkSignal } from '../realtime/work-signal.ts';
import { newObjectId } from '../storage/mongo.ts';
import type { Repositories } from '../storage/repositories.ts';
import {
  logErasureFailed,
  logErasureRound,
  logFanOutAttemptFailed,
  logFanOutFinished,
  logFanOutGivenUp,
  logFanOutOvertaken,
  logFeedRebuilt,
  logLeaseLost,
  logNameCarried,
  logRenameAttemptFailed,
  logRescored,
  logWorkerStarted,
  logWorkerStopped,
  logWorkerTrouble,
} from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { ErasureWorker } from '../workers/erasure/erasure-worker.ts';
import { ERASURE_TIMING } from '../workers/erasure/run-erasure.ts';

export interface WorkerParts {
  readonly repositories: Repositories;
  readonly feedStore: FeedStore;
  /** Of every model that may hold a feed, in use or not. */
  readonly feedStores: readonly FeedStore[];
  readonly liveLog: LiveLog;
  readonly workSignal: WorkSignal;
  readonly sessionEnds: SessionEnds;
  readonly onLiveLogError: (error: unknown) => void;
}

/** How often a process looks whether a generation of scores is due. */
const RESCORE_POLL_MS = 10_000;

/** Starts everything that works in the background of one process. Disposing hands unfinished work back. */
export function startWorkers(
  { fanOut, feeds }: Pick<Config, 'fanOut' | 'feeds'>,
  parts: WorkerParts,
  logger: Logger,
  metrics: Metrics,
): AsyncDisposable {
  const { concurrency, leaseMs, maxAttempts, pollMs, chunkSize } = fanOut;
  const workerId = randomUUID();
  const { repositories, ...others } = parts;
  const rest = { ...others, gate: new LaneGate() };
  const worker = new FanOutWorker(
    {
      ...repositories,
      ...rest,
      chunkSize,
      leaseMs,
      weights: feeds.relevancyWeights,
      cap: feeds.cap,
      random: Math.random,
      passBy: dormancy({ ...repositories, ...rest, dormantAfterMs: feeds.dormantAfterMs }),
      observer: fanOutObserver(logger, metrics),
    },
    { workerId, leaseMs, maxAttempts, concurrency, pollMs },
  );
  const rebuilds = new RebuildWorker(
    {
      ...repositories,
      ...rest,
      weights: feeds.relevancyWeights,
      cap: feeds.cap,
      observer: {
        rebuilt: (userId, seconds) => {
          logFeedRebuilt(logger, { userId, seconds });
        },
        failed: (err) => {
          logWorkerTrouble(logger, { err });
        },
      },
    },
    { leaseMs, pollMs },
  );
  const renames = new RenameWorker(
    {
      renames: repositories.renames,
      gate: rest.gate,
      observer: {
        carried: ({ id, version }, actions, seconds) => {
          logNameCarried(logger, { id, version, actions, seconds });
        },
        failed: ({ id, attempts }, err) => {
          logRenameAttemptFailed(logger, { id, attempt: attempts, err });
        },
        claimFailed: (err) => {
          logWorkerTrouble(logger, { err });
        },
      },
    },
    { workerId, leaseMs, pollMs, batchSize: chunkSize },
  );
  const erasures = new ErasureWorker({
    ...repositories,
    ...rest,
    newToken: newObjectId,
    timing: ERASURE_TIMING,
    observer: {
      finished: ({ key, state }, seconds) => {
        logErasureRound(logger, { erasure: key, round: state, seconds });
      },
      failed: ({ key, attempts }, err) => {
        logErasureFailed(logger, { erasure: key, attempt: attempts, err });
      },
      claimFailed: (err) => {
        logWorkerTrouble(logger, { err });
      },
    },
  });
  const rescores = new RescoreWorker(
    {
      ...repositories,
      ranking: feeds.ranking,
      observer: {
        rescored: (generation, actions, seconds) => {
          logRescored(logger, { generation: generation.toISOString(), actions, seconds });
        },
        failed: (err) => {
          logWorkerTrouble(logger, { err });
        },
      },
    },
    { leaseMs, pollMs: RESCORE_POLL_MS },
  );
  const upkeep = new UpkeepWorker({
    ...repositories,
    ...rest,
    celebrityThreshold: feeds.celebrityThreshold,
    newToken: newObjectId,
    onError: (err) => {
      logWorkerTrouble(logger, { err });
    },
  });
  upkeep.start();
  worker.start();
  rescores.start();
  erasures.start();
  rebuilds.start();
  renames.start();
  logWorkerStarted(logger, { worker: workerId, concurrency, model: parts.feedStore.model });
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all([
        worker.stop(),
        erasures.stop(),
        rebuilds.stop(),
        renames.stop(),
        rescores.stop(),
        upkeep.stop(),
      ]);
      logWorkerStopped(logger, { worker: workerId });
    },
  };
}

function fanOutObserver(logger: Logger, metrics: Metrics): FanOutObserver {
  return {
    finished(claim, { delivered, seconds, isDone }) {
      const state = isDone ? 'DONE' : 'PENDING';
      metrics.fanOutFinished({ state, delivered, seconds });
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
      if (isFinal) logFanOutGivenUp(logger, { actionId: claim.action.id, attempts: claim.attempts, err });
      else logFanOutAttemptFailed(logger, { actionId: claim.action.id, attempt: claim.attempts, err });
    },
    claimFailed(err) {
      logWorkerTrouble(logger, { err });
    },
  };
}
