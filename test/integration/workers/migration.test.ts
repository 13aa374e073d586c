import { expect, test } from 'vitest';
import { enterInstallation } from '../../../src/app/app.ts';
import type { Migration } from '../../../src/storage/migrations/migration.ts';
import { type Collections } from '../../../src/storage/database/mongo.ts';
import { SchemaTooNew } from '../../../src/storage/database/schema-version.ts';
import { type LogFields, type Logger, silentLogger } from '../../../src/telemetry/logger.ts';
import type { JobRunner } from '../../../src/jobs/job.ts';
import { migration } from '../../../src/features/upkeep/jobs/migration.ts';
import { runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const MEMBERS = 25;
const BATCH = 10;

/** Writes `n` into every member's team; notes where each of its batches began. */
function markTeams(version: number, begunAt: (string | null)[] = []): Migration {
  return {
    version,
    name: `mark teams ${String(version)}`,
    async batch({ members }, after, limit) {
      begunAt.push(after);
      const found = await members
        .find(after === null ? {} : { _id: { $gt: after } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      for (const { _id } of found)
        await members.updateOne({ _id }, { $set: { teamId: `v${String(version)}` } });
      return { looked: found.length, after: found.length < limit ? null : (found.at(-1)?._id ?? null) };
    },
  };
}

/** Keeps what is logged of migrations. */
function reports(): { readonly lines: string[]; readonly logger: Logger } {
  const lines: string[] = [];
  const note = ({ version, documents, olderProcesses }: LogFields, message: string): void => {
    const count = documents ?? olderProcesses;
    lines.push([message, version, ...(count === undefined ? [] : [count])].join(' '));
  };
  return { lines, logger: { ...silentLogger(), info: note, warn: note } };
}

function workerOf(parts: Parts, migrations: readonly Migration[], logger = reports().logger): JobRunner {
  const setup = { logger, fanOut: { leaseMs: 60_000, chunkSize: BATCH } };
  return runnerOf((given) => migration(given, migrations), parts.core, setup);
}

/** Members from before versions were counted. */
async function withMembers(parts: Parts): Promise<void> {
  const memberIds = Array.from({ length: MEMBERS }, (_, index) => `member-${String(index).padStart(2, '0')}`);
  await parts.services.upsertMembers(
    parts.service,
    memberIds.map((memberId) => ({ memberId, name: memberId })),
  );
  await parts.repositories.schemaVersion.open(0);
}

async function teams({ members }: Collections): Promise<unknown[]> {
  return members.distinct('teamId');
}

async function version(parts: Parts): Promise<number | undefined> {
  return (await parts.repositories.schemaVersion.state())?.version;
}

const enter = (parts: Parts, schema: number): Promise<AsyncDisposable> =>
  enterInstallation(parts.repositories, {
    schema,
    isWorker: false,
    hasTenants: false,
    onError: (error) => {
      throw error;
    },
  });

test('an empty database has the latest version, one with data the version from before', async () => {
  await using empty = await openParts();
  expect(await empty.repositories.schemaVersion.open(3)).toMatchObject({ version: 3, migration: null });
  await using used = await openParts();
  await withMembers(used);
  expect(await used.repositories.schemaVersion.open(3)).toMatchObject({ version: 0, migration: null });
});

test('migrates every document, migration after migration, and raises the version with each', async () => {
  await using parts = await openParts();
  await withMembers(parts);
  const { lines, logger } = reports();
  const worker = workerOf(parts, [markTeams(1), markTeams(2)], logger);
  expect(await worker.round()).toBe(true);
  expect(await version(parts)).toBe(1);
  expect(await teams(parts.database.collections)).toEqual(['v1']);
  expect(await worker.round()).toBe(true);
  expect(await version(parts)).toBe(2);
  expect(await teams(parts.database.collections)).toEqual(['v2']);
  expect(await worker.round()).toBe(false);
  expect(lines).toEqual([
    'Migration started 1',
    'Migration finished 1 25',
    'Migration started 2',
    'Migration finished 2 25',
  ]);
});

test('continues from the checkpoint of a worker that died', async () => {
  await using parts = await openParts();
  await withMembers(parts);
  const { schemaVersion } = parts.repositories;
  const dead = await schemaVersion.claim(0, { token: 'dead', now: new Date(0), leaseMs: 1 });
  if (dead === null) throw new Error('Nothing to claim');
  await schemaVersion.checkpoint(dead, { after: 'member-09', looked: BATCH }, new Date(1));
  const begunAt: (string | null)[] = [];
  const { lines, logger } = reports();
  expect(await workerOf(parts, [markTeams(1, begunAt)], logger).round()).toBe(true);
  expect(begunAt).toEqual(['member-09', 'member-19']);
  expect(lines).toEqual(['Migration finished 1 25']);
  expect(await schemaVersion.finish(dead)).toBe(false);
});

test('leaves a migration to the worker that has claimed it', async () => {
  await using parts = await openParts();
  await withMembers(parts);
  const lines: string[][] = [];
  const rounds = [1, 2, 3].map(async () => {
    const report = reports();
    lines.push(report.lines);
    return workerOf(parts, [markTeams(1)], report.logger).round();
  });
  expect((await Promise.all(rounds)).filter((hasRun) => hasRun)).toEqual([true]);
  expect(lines.flat()).toEqual(['Migration started 1', 'Migration finished 1 25']);
});

test('keeps the checkpoint of a failed attempt and its error', async () => {
  await using parts = await openParts();
  await withMembers(parts);
  const good = markTeams(1);
  const failing: Migration = {
    ...good,
    batch: async (collections, after, limit) => {
      if (after !== null) throw new Error('No room');
      return good.batch(collections, after, limit);
    },
  };
  await expect(workerOf(parts, [failing]).round()).rejects.toThrow('No room');
  const state = await parts.repositories.schemaVersion.state();
  expect(state).toMatchObject({
    version: 0,
    migration: { to: 1, progress: { after: 'member-09', looked: 10 }, error: 'No room' },
  });
  // Not before its pause has passed.
  expect(await workerOf(parts, [good]).round()).toBe(false);
  expect(state?.migration?.due.getTime()).toBeGreaterThan(Date.now());
});

test('waits while a process of an older release runs, and starts when it has ended', async () => {
  await using parts = await openParts();
  await withMembers(parts);
  const older = await enter(parts, 0);
  await using _newer = await enter(parts, 1);
  const { lines, logger } = reports();
  expect(await workerOf(parts, [markTeams(1)], logger).round()).toBe(false);
  expect(lines).toEqual(['Migration waits for processes of an older release to end 1 1']);
  // A restart of the older release is possible as long as nothing has begun.
  await (await enter(parts, 0))[Symbol.asyncDispose]();
  await older[Symbol.asyncDispose]();
  await parts.database.collections.schema.updateOne(
    { _id: 'schema' },
    { $set: { 'migration.due': new Date(0) } },
  );
  expect(await workerOf(parts, [markTeams(1)], logger).round()).toBe(true);
  expect(await version(parts)).toBe(1);
});

test('a process of an older release can no longer start, and leaves no trace', async () => {
  await using parts = await openParts();
  await withMembers(parts);
  expect(await workerOf(parts, [markTeams(1)]).round()).toBe(true);
  await expect(enter(parts, 0)).rejects.toThrow(SchemaTooNew);
  await expect(enter(parts, 0)).rejects.toThrow(
    'The database has schema version 1, and this version of the server knows those up to 0. Another version wrote it: run that one, or take an empty database (MONGODB_DB), or an empty folder if it is a local one (DATA_DIR)',
  );
  expect(await parts.database.collections.processes.countDocuments({})).toBe(0);
});

test('an older process that starts is rejected, or the migration waits for it, or both', async () => {
  for (let round = 0; round < 10; round++) {
    await using parts = await openParts();
    await withMembers(parts);
    const [older, hasRun] = await Promise.all([
      enter(parts, 0).catch((error: unknown) => error),
      workerOf(parts, [markTeams(1)]).round(),
    ]);
    // Both may notice the other: then the process is kept out, and the migration begins with the next round.
    if (older instanceof Error) expect(older).toBeInstanceOf(SchemaTooNew);
    else {
      expect(hasRun).toBe(false);
      await (older as AsyncDisposable)[Symbol.asyncDispose]();
    }
  }
});

test('a process without a recent sign of life counts as ended', async () => {
  await using parts = await openParts();
  const { processes } = parts.repositories;
  const now = new Date();
  const before = (seconds: number): Date => new Date(now.getTime() - seconds * 1_000);
  await processes.seen({ id: 'now', schema: 1, isWorker: true, hasTenants: false }, before(1));
  await processes.seen({ id: 'silent', schema: 0, isWorker: true, hasTenants: false }, before(600));
  expect(await processes.countWorkers(now)).toBe(1);
  expect(await processes.countOlder(1, now)).toBe(0);
  await processes.purge(now);
  expect(await parts.database.collections.processes.distinct('_id')).toEqual(['now']);
});
