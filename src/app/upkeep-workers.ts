import { MIGRATIONS } from '../storage/migrations/migration.ts';
import {
  logMigrationFailed,
  logMigrationFinished,
  logMigrationStarted,
  logMigrationWaits,
} from '../telemetry/events/databases.ts';
import { logErasureFailed, logErasureRound, logWorkerTrouble } from '../telemetry/events/workers.ts';
import type { BackgroundWorker } from '../jobs/background-worker.ts';
import { ErasureWorker } from '../features/erasure/jobs/erasure-worker.ts';
import { MigrationWorker } from '../features/upkeep/jobs/migration-worker.ts';
import { UpkeepWorker } from '../features/upkeep/jobs/upkeep-worker.ts';
import { createStackOnce } from '../telemetry/stack-once.ts';
import type { JobSetup } from '../jobs/job.ts';

const MIGRATION_POLL_MS = 5_000;

/** Workers for migrations, leftovers and erasures. */
export function upkeepWorkers(setup: JobSetup): BackgroundWorker[] {
  return [migrations(setup), upkeep(setup), erasures(setup)];
}

function migrations({ config, core, logger }: JobSetup): MigrationWorker {
  const { leaseMs, chunkSize } = config.fanOut;
  return new MigrationWorker(core, {
    migrations: MIGRATIONS,
    ...{ leaseMs, pollMs: MIGRATION_POLL_MS, batchSize: chunkSize },
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
  });
}

function upkeep(setup: JobSetup): UpkeepWorker {
  const { core, logger } = setup;
  const { feeds } = setup.config;
  return new UpkeepWorker(core, {
    celebrityThreshold: feeds.celebrityThreshold,
    dropAfterMs: feeds.dropAfterMs,
    neverReadAfterMs: feeds.neverReadAfterMs,
    onError: (err) => {
      logWorkerTrouble(logger, { err });
    },
  });
}

function erasures(setup: JobSetup): ErasureWorker {
  const { core, logger, metrics } = setup;
  const failure = createStackOnce();
  return new ErasureWorker(core, {
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
