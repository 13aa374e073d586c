import { randomUUID } from 'node:crypto';
import { allEnded } from '../lib/all-ended.ts';
import type { Config } from '../config/config.ts';
import { ExpiryWorker } from '../workers/expiry/expiry-worker.ts';
import { MuteEndsWorker } from '../workers/mutes/mute-ends-worker.ts';
import { RebuildWorker } from '../workers/rebuild/rebuild-worker.ts';
import { MigrationWorker } from '../workers/migration/migration-worker.ts';
import { RenameWorker } from '../workers/rename/rename-worker.ts';
import { RescoreWorker } from '../workers/rescore/rescore-worker.ts';
import { dormancy } from '../workers/fan-out/skip-dormant.ts';
import { pollByTheClockMs } from '../workers/poll-by-the-clock.ts';
import { SnoozeWorker } from '../workers/snoozes/snooze-worker.ts';
import { UpkeepWorker } from '../workers/upkeep/upkeep-worker.ts';
import { LaneGate } from '../workers/fan-out/lane-gate.ts';
import { FanOutWorker, type FanOutObserver } from '../workers/fan-out/fan-out-worker.ts';
import { MIGRATIONS } from '../storage/migrations/registry.ts';
import { newObjectId } from '../storage/mongo.ts';
import {
  logMigrationFailed,
  logMigrationFinished,
  logMigrationStarted,
  logMigrationWaits,
} from '../telemetry/events/databases.ts';
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
} from '../telemetry/events/workers.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Core } from './core.ts';
import { eventWorkers } from './event-workers.ts';
import { ErasureWorker } from '../workers/erasure/erasure-worker.ts';
import { ERASURE_TIMING } from '../workers/erasure/run-erasure.ts';

/** How often a process looks whether a generation of scores is due. */
const RESCORE_POLL_MS = 10_000;

/** How often a process looks whether a migration is due. */
const MIGRATION_POLL_MS = 5_000;

/** Starts everything that works in the background of one process. Disposing hands unfinished work back. */
export function startWorkers(
  config: Pick<Config, 'events' | 'fanOut' | 'feeds'>,
  core: Core,
  logger: Logger,
  metrics: Metrics,
): AsyncDisposable {
  const { fanOut, feeds } = config;
  const { concurrency, leaseMs, maxAttempts, pollMs, chunkSize } = fanOut;
  const workerId = randomUUID();
  const { repositories, feedStore, feedStores, liveLog, workSignal, sessionEnds, onLiveLogError } = core;
  const gate = new LaneGate();
  const rest = { feedStore, feedStores, liveLog, workSignal, sessionEnds, onLiveLogError, gate };
  const worker = new FanOutWorker(
    {
      ...repositories,
      ...rest,
      chunkSize,
      leaseMs,
      weights: feeds.relevancyWeights,
      cap: feeds.cap,
      random: Math.random,
      skipDormant: dormancy({
        ...{ ...repositories, ...rest },
        dormantAfterMs: feeds.dormantAfterMs,
        neverReadAfterMs: feeds.neverReadAfterMs,
      }),
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
      gate,
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
    dropAfterMs: feeds.dropAfterMs,
    neverReadAfterMs: feeds.neverReadAfterMs,
    newToken: newObjectId,
    onError: (err) => {
      logWorkerTrouble(logger, { err });
    },
  });
  const migrations = new MigrationWorker(
    {
      migrations: MIGRATIONS,
      collections: core.collections,
      ...repositories,
      newToken: newObjectId,
      observer: {
        started: ({ version, name }) => {
          logMigrationStarted(logger, { version, name });
        },
        waiting: ({ version, name }, olderProcesses) => {
          logMigrationWaits(logger, { version, name, olderProcesses });
        },
        finished: ({ version, name }, documents) => {
          logMigrationFinished(logger, { version, name, documents });
        },
        failed: (err) => {
          logMigrationFailed(logger, { err });
        },
      },
    },
    { leaseMs, pollMs: MIGRATION_POLL_MS, batchSize: chunkSize },
  );
  const timed = {
    ...repositories,
    ...rest,
    newToken: newObjectId,
    onError: (err: unknown) => {
      logWorkerTrouble(logger, { err });
    },
  };
  const byTime = { leaseMs, pollMs: pollByTheClockMs(pollMs) };
  const byTheClock = [
    new ExpiryWorker(timed, byTime),
    new MuteEndsWorker(timed, byTime),
    new SnoozeWorker(timed, byTime),
  ];
  const events = eventWorkers(config, core, workerId, logger, metrics);
  const workers = [
    migrations,
    ...byTheClock,
    upkeep,
    worker,
    rescores,
    erasures,
    rebuilds,
    renames,
    ...events,
  ];
  for (const one of workers) one.start();
  logWorkerStarted(logger, { worker: workerId, concurrency, model: feedStore.model });
  return {
    async [Symbol.asyncDispose]() {
      // Side by side, and each to its end, also where another one fails.
      try {
        await allEnded(
          workers.map((one) => one.stop()),
          'Several workers could not be stopped in order',
        );
      } finally {
        logWorkerStopped(logger, { worker: workerId });
      }
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
