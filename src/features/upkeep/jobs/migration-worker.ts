import type { Context } from '../../../feed/context.ts';
import { newObjectId } from '../../../storage/database/mongo.ts';
import { clock } from '../../../lib/clock.ts';
import type { Migration } from '../../../storage/migrations/migration.ts';
import type { MigrationClaim } from '../../../storage/database/schema-version.ts';
import { BackgroundWorker } from '../../../jobs/background-worker.ts';

export interface MigrationObserver {
  started(migration: Migration): void;
  /** Processes of an older release are still running; the migration starts when they have ended. */
  waiting(migration: Migration, olderProcesses: number): void;
  finished(migration: Migration, documents: number): void;
  /** Retried after a pause, from the last checkpoint. */
  failed(error: unknown): void;
}

export interface MigrationOptions {
  readonly migrations: readonly Migration[];
  readonly observer: MigrationObserver;
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly batchSize: number;
}

/** Pause after a failure, or while waiting for older processes. */
const PAUSE_MS = 5_000;

/**
 * Runs the pending migrations in order, one process at a time. If the process dies, the next one continues from the last
 * checkpoint. No migration starts while a process that would write the older schema is running.
 */
export class MigrationWorker extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: MigrationOptions;
  /** Last reported number of older processes. */
  #waitsFor = 0;

  constructor(context: Context, options: MigrationOptions) {
    super(options);
    this.#context = context;
    this.#options = options;
  }

  /** Runs the next migration as far as possible. Returns false when none is due, or when it has to wait. */
  async round(): Promise<boolean> {
    const { schemaVersion } = this.#context;
    const { migrations } = this.#options;
    const version = (await schemaVersion.state())?.version ?? 0;
    const migration = migrations.find((candidate) => candidate.version === version + 1);
    if (migration === undefined) return false;
    const { leaseMs } = this.#options;
    const claim = await schemaVersion.claim(version, { token: newObjectId(), now: clock.now(), leaseMs });
    if (claim === null) return false;
    try {
      return (await this.#mayBegin(claim, migration)) && (await this.#run(claim, migration));
    } catch (error) {
      await schemaVersion.release(claim, this.#after(PAUSE_MS), reasonOf(error));
      throw error;
    }
  }

  protected override work(): Promise<boolean> {
    return this.round();
  }

  protected override failed(error: unknown): void {
    this.#options.observer.failed(error);
  }

  /**
   * Checked before and after older processes are locked out: a starting process registers first, so one of the two notices.
   */
  async #mayBegin(claim: MigrationClaim, migration: Migration): Promise<boolean> {
    const { schemaVersion, processes } = this.#context;
    const { observer } = this.#options;
    let older = await processes.countOlder(claim.to, clock.now());
    if (older === 0) {
      if (!(await schemaVersion.requireVersion(claim))) return false;
      older = await processes.countOlder(claim.to, clock.now());
      if (older === 0) return true;
      await schemaVersion.allowOlder(claim);
    }
    await schemaVersion.release(claim, this.#after(PAUSE_MS), null);
    if (this.#waitsFor !== older) observer.waiting(migration, older);
    this.#waitsFor = older;
    return false;
  }

  async #run(claim: MigrationClaim, migration: Migration): Promise<boolean> {
    const { collections, schemaVersion } = this.#context;
    const { observer } = this.#options;
    const { leaseMs, batchSize } = this.#options;
    let { after, done } = claim;
    if (after === null) observer.started(migration);
    do {
      if (this.isStopping) {
        await schemaVersion.release(claim, clock.now(), null);
        return false;
      }
      const batch = await migration.batch(collections, after, batchSize);
      [after, done] = [batch.after, done + batch.looked];
      if (after === null) break;
    } while (await schemaVersion.checkpoint(claim, { after, done, dueAt: this.#after(leaseMs) }));
    // If the claim is void, another process continues from an older checkpoint.
    if (await schemaVersion.finish(claim)) observer.finished(migration, done);
    return true;
  }

  #after(ms: number): Date {
    return new Date(clock.time() + ms);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
