import { clock } from '../../../lib/clock.ts';
import type { MigrationClaim } from '../../../storage/database/schema-version.ts';
import { newObjectId } from '../../../storage/database/mongo.ts';
import { type Migration, MIGRATIONS } from '../../../storage/migrations/migration.ts';
import { logMigrationFinished, logMigrationStarted, logMigrationWaits } from '../../../telemetry/events.ts';
import type { Job, JobSetup } from '../../../jobs/job.ts';

/** Pause after a failure, or while waiting for older processes. */
const PAUSE_MS = 5_000;

/**
 * Runs the pending migrations in order, one process at a time. If the process dies, the next one continues from the last
 * checkpoint. No migration starts while a process that would write the older schema is running.
 */
export function migration({ core, config, logger }: JobSetup, migrations = MIGRATIONS): Job {
  const { collections, schemaVersion, processes } = core;
  const { leaseMs, chunkSize } = config.fanOut;
  const after = (ms: number): Date => new Date(clock.time() + ms);
  /** Last reported number of older processes. */
  let waitsFor = 0;

  return {
    name: 'migration',
    every: PAUSE_MS,
    async run({ signal }) {
      const version = (await schemaVersion.state())?.version ?? 0;
      const next = migrations.find((candidate) => candidate.version === version + 1);
      if (next === undefined) return false;
      const claim = await schemaVersion.claim(version, { token: newObjectId(), now: clock.now(), leaseMs });
      if (claim === null) return false;
      try {
        return (await mayBegin(claim, next)) && (await migrate(claim, next, signal));
      } catch (error) {
        await schemaVersion.release(claim, after(PAUSE_MS), { error });
        throw error;
      }
    },
  };

  /**
   * Checked before and after older processes are locked out: a starting process registers first, so one of the two notices.
   */
  async function mayBegin(claim: MigrationClaim, { version, name }: Migration): Promise<boolean> {
    let older = await processes.countOlder(claim.to, clock.now());
    if (older === 0) {
      if (!(await schemaVersion.requireVersion(claim))) return false;
      older = await processes.countOlder(claim.to, clock.now());
      if (older === 0) return true;
      await schemaVersion.allowOlder(claim);
    }
    await schemaVersion.release(claim, after(PAUSE_MS));
    if (waitsFor !== older) logMigrationWaits(logger, { version, name, olderProcesses: older });
    waitsFor = older;
    return false;
  }

  async function migrate(
    claim: MigrationClaim,
    { version, name, batch }: Migration,
    signal: AbortSignal,
  ): Promise<boolean> {
    let { after: from, done } = claim;
    if (from === null) logMigrationStarted(logger, { version, name });
    do {
      if (signal.aborted) {
        await schemaVersion.release(claim, clock.now());
        return false;
      }
      const found = await batch(collections, from, chunkSize);
      [from, done] = [found.after, done + found.looked];
      if (from === null) break;
    } while (await schemaVersion.checkpoint(claim, { after: from, looked: done }, after(leaseMs)));
    // If the claim is void, another process continues from an older checkpoint.
    if (await schemaVersion.finish(claim)) logMigrationFinished(logger, { version, name, documents: done });
    return true;
  }
}
