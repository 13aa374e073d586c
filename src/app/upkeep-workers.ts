import { MIGRATIONS } from '../storage/migrations/registry.ts';
import type { DueKind } from '../storage/due/due-work.ts';
import { newObjectId } from '../storage/database/mongo.ts';
import {
  logMigrationFailed,
  logMigrationFinished,
  logMigrationStarted,
  logMigrationWaits,
} from '../telemetry/events/databases.ts';
import { logErasureFailed, logErasureRound, logWorkerTrouble } from '../telemetry/events/workers.ts';
import type { BackgroundWorker } from '../workers/background-worker.ts';
import { ErasureWorker } from '../workers/erasure/erasure-worker.ts';
import { ERASURE_TIMING } from '../workers/erasure/run-erasure.ts';
import { ExpiryWorker } from '../workers/expiry/expiry-worker.ts';
import { MigrationWorker } from '../workers/migration/migration-worker.ts';
import { MuteEndsWorker } from '../workers/mutes/mute-ends-worker.ts';
import { pollByTheClockMs } from '../workers/poll-by-the-clock.ts';
import { SnoozeWorker } from '../workers/snoozes/snooze-worker.ts';
import { UpkeepWorker } from '../workers/upkeep/upkeep-worker.ts';
import { createStackOnce } from '../telemetry/stack-once.ts';
import { partsOf, type WorkerSetup } from './worker-setup.ts';

const MIGRATION_POLL_MS = 5_000;

/** Workers for migrations, expiries, leftovers and erasures. */
export function upkeepWorkers(setup: WorkerSetup): BackgroundWorker[] {
  return [migrations(setup), ...byTheClock(setup), upkeep(setup), erasures(setup)];
}

function migrations({ config, core, logger }: WorkerSetup): MigrationWorker {
  const { leaseMs, chunkSize } = config.fanOut;
  return new MigrationWorker(
    {
      migrations: MIGRATIONS,
      collections: core.collections,
      ...core.repositories,
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
}

function byTheClock(setup: WorkerSetup): BackgroundWorker[] {
  const { logger } = setup;
  const { leaseMs, pollMs } = setup.config.fanOut;
  const parts = partsOf(setup);
  const timed = {
    ...parts,
    newToken: newObjectId,
    onError: (err: unknown) => {
      logWorkerTrouble(logger, { err });
    },
  };
  const byTime = (kind: DueKind) => ({
    ...{ leaseMs, pollMs: pollByTheClockMs(pollMs) },
    isDue: () => setup.dueLooks.isDue(kind),
  });
  return [
    new ExpiryWorker(timed, byTime('expiry')),
    new MuteEndsWorker(timed, byTime('muteEnd')),
    new SnoozeWorker(timed, byTime('snooze')),
  ];
}

function upkeep(setup: WorkerSetup): UpkeepWorker {
  const { logger } = setup;
  const { feeds } = setup.config;
  const parts = partsOf(setup);
  return new UpkeepWorker({
    ...parts,
    celebrityThreshold: feeds.celebrityThreshold,
    dropAfterMs: feeds.dropAfterMs,
    neverReadAfterMs: feeds.neverReadAfterMs,
    newToken: newObjectId,
    onError: (err) => {
      logWorkerTrouble(logger, { err });
    },
  });
}

function erasures(setup: WorkerSetup): ErasureWorker {
  const { logger, metrics } = setup;
  const failure = createStackOnce();
  const parts = partsOf(setup);
  return new ErasureWorker({
    ...parts,
    forgetDeleted: setup.core.forgetDeleted,
    newToken: newObjectId,
    timing: ERASURE_TIMING,
    observer: {
      finished: ({ key, state }, seconds) => {
        logErasureRound(logger, { erasure: key, round: state, seconds });
      },
      failed: ({ key, attempts }, err) => {
        metrics.erasureAttemptFailed();
        logErasureFailed(logger, { erasure: key, attempt: attempts, ...failure(err) });
      },
      claimFailed: (err) => {
        logWorkerTrouble(logger, { err });
      },
    },
  });
}
