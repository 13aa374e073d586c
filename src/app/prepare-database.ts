import type { Config } from '../config/config.ts';
import { clock } from '../lib/clock.ts';
import type { Closer } from '../lib/closer.ts';
import { syncToAsync } from '../lib/sync-to-async.ts';
import { watchClock } from '../services/clock-watch.ts';
import { ensureIndexes } from '../storage/indexes/indexes.ts';
import { latestVersion, MIGRATIONS } from '../storage/migrations/registry.ts';
import { connectDatabase } from '../storage/open-database.ts';
import type { Database } from '../storage/database/mongo.ts';
import { createRepositories } from '../storage/repositories.ts';
import { logIndexesCreated } from '../telemetry/events/databases.ts';
import { logClockRight, logClockSkewed, logPresenceTrouble } from '../telemetry/events/process.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { allIndexes } from './collections.ts';
import { enterInstallation } from './presence.ts';

export interface PrepareDatabaseOptions {
  readonly isWorker: boolean;
  readonly hasTenants: boolean;
  readonly monitorCommands: boolean;
  readonly traces: boolean;
}

const LEAVES_WITHIN_MS = 1_000;

/** Connects, watches the clocks, registers this process and ensures the indexes. The closer undoes all of it. */
export async function prepareDatabase(
  { mongodb }: Config,
  { isWorker, hasTenants, monitorCommands, traces }: PrepareDatabaseOptions,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  closer: Closer,
): Promise<Database> {
  if (mongodb.uri === undefined) throw new Error('No MongoDB URI: give one or start the embedded engine');
  const database = closer.own(
    await connectDatabase({
      uri: mongodb.uri,
      db: mongodb.db,
      monitorCommands,
      traces,
    }),
  );
  closer.own(
    syncToAsync(
      watchClock({
        skewed: (seconds) => {
          logClockSkewed(logger, { seconds });
        },
        right: (seconds) => {
          logClockRight(logger, { seconds });
        },
      }),
    ),
  );
  closer.own(syncToAsync(metrics.watchSkew(() => clock.skew() / 1_000)));
  const presence = await enterInstallation(createRepositories(database.collections), {
    schema: latestVersion(MIGRATIONS),
    isWorker,
    hasTenants,
    onError: (err) => {
      logPresenceTrouble(logger, { err });
    },
  });
  closer.own(presence, LEAVES_WITHIN_MS);
  const created = await ensureIndexes(database.db, allIndexes({ hasTenants }));
  if (created.length > 0) logIndexesCreated(logger, { indexes: created });
  return database;
}
