import { MIGRATIONS } from '../storage/migrations/migration.ts';
import type { DueKind } from '../storage/due/due-work.ts';
import {
  logMigrationFailed,
  logMigrationFinished,
  logMigrationStarted,
  logMigrationWaits,
} from '../telemetry/events/databases.ts';
import { logErasureFailed, logErasureRound, logWorkerTrouble } from '../telemetry/events/workers.ts';
import { type BackgroundWorker, pollByTheClockMs } from '../workers/background-worker.ts';
import { ErasureWorker } from '../workers/erasure/erasure-worker.ts';
import { ExpiryWorker } from '../workers/expiry/expiry-worker.ts';
import { MigrationWorker } from '../workers/migration/migration-worker.ts';
import { MuteEndsWorker } from '../workers/mutes/mute-ends-worker.ts';
import { SnoozeWorker } from '../workers/snoozes/snooze-worker.ts';
import { UpkeepWorker } from '../workers/upkeep/upkeep-worker.ts';
import { createStackOnce } from '../telemetry/stack-once.ts';
import type { WorkerSetup } from './feed-workers.ts';

const MIGRATION_POLL_MS = 5_000;

/** Workers for migrations, expiries, leftovers and erasures. */
export function upkeepWorkers(setup: WorkerSetup): BackgroundWorker[] {
  return [migrations(setup), ...byTheClock(setup), upkeep(setup), erasures(setup)];
}

function migrations({ config, core, logger }: WorkerSetup): MigrationWorker {
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

function byTheClock(setup: WorkerSetup): BackgroundWorker[] {
  const { core, logger } = setup;
  const { leaseMs, pollMs } = setup.config.fanOut;
  const byTime = (kind: DueKind) => ({
    ...{ leaseMs, pollMs: pollByTheClockMs(pollMs) },
    isDue: () => setup.dueLooks.isDue(kind),
    onError: (err: unknown) => {
      logWorkerTrouble(logger, { err });
    },
  });
  return [
    new ExpiryWorker(core, byTime('expiry')),
    new MuteEndsWorker(core, byTime('muteEnd')),
    new SnoozeWorker(core, byTime('snooze')),
  ];
}

function upkeep(setup: WorkerSetup): UpkeepWorker {
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

function erasures(setup: WorkerSetup): ErasureWorker {
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
