import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { dueAmong } from '../../../src/storage/due/due-work.ts';
import { JOBS } from '../../../src/app/jobs.ts';
import { DueLooks, JobRunner, wantedBy } from '../../../src/jobs/job.ts';
import { eventually } from '../../conformance/live-log-tools.ts';
import { commandsOf, stagesOf } from '../../support/commands.ts';
import { reporting, setupOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const HOUR_MS = 3_600_000;
const NOW = new Date();
const EARLIER = new Date(NOW.getTime() - 1_000);
const LATER = new Date(NOW.getTime() + HOUR_MS);

/** What makes work of a job due at a time. */
const WORK: Readonly<Record<string, (parts: Parts, at: Date) => Promise<unknown>>> = {
  async expiry({ publish, database }, at) {
    const { action } = await publish({ expiresAt: LATER });
    return database.collections.actions.updateOne(
      { _id: new ObjectId(action.id) },
      { $set: { expiresAt: at } },
    );
  },
  'mute ends': ({ database }, at) =>
    database.collections.feeds.updateOne(
      { _id: 'ann' },
      { $set: { muteEnd: { due: at } } },
      { upsert: true },
    ),
  'mark ends': ({ database }, at) =>
    database.collections.itemMarks.updateOne(
      { _id: { userId: 'ann', actionId: new ObjectId() } },
      { $set: { state: 'SNOOZED', at: EARLIER, until: at, lifting: { due: at } } },
      { upsert: true },
    ),
  notifications: ({ database }, at) =>
    database.collections.notificationStates.updateOne(
      { _id: 'ann' },
      { $set: { due: { due: at } } },
      { upsert: true },
    ),
  async publication({ publish, database }, at) {
    const { action } = await publish({ publishAt: LATER });
    return database.collections.actions.updateOne(
      { _id: new ObjectId(action.id) },
      { $set: { publishAt: at } },
    );
  },
  async renames({ service, services, database }, at) {
    await services.upsertRefs(service, [{ id: 'site-1', type: 'site', label: 'Site' }]);
    return database.collections.refs.updateOne({ _id: 'site-1' }, { $set: { 'rename.due': at } });
  },
};
const NAMES = Object.keys(WORK);

function due(parts: Parts): Promise<ReadonlySet<string>> {
  const wanted = wantedBy(JOBS.flatMap((declare) => declare(setupOf(parts.core))));
  expect(new Set(wanted.map(({ name }) => name))).toEqual(new Set(NAMES));
  return dueAmong(parts.database.collections, wanted, NOW);
}

test.each(NAMES)('work of the job %s is found once it is due', async (name) => {
  await using parts = await openParts();
  expect(await due(parts)).toEqual(new Set());
  await WORK[name]?.(parts, LATER);
  expect(await due(parts)).toEqual(new Set());
  await WORK[name]?.(parts, EARLIER);
  expect(await due(parts)).toEqual(new Set([name]));
});

test('all due work is found with one command, which reads each index', async () => {
  await using parts = await openParts({ monitorCommands: true });
  for (const name of NAMES) await WORK[name]?.(parts, EARLIER);
  const looks = await commandsOf(parts.database, async () => {
    expect(await due(parts)).toEqual(new Set(NAMES));
  });
  expect(looks.map(({ name }) => name)).toEqual(['aggregate']);
  const indexes = async (): Promise<(string | null)[]> => {
    const stages = await Promise.all(looks.map((look) => stagesOf(parts.database, look)));
    return stages
      .flat()
      .filter(({ stage }) => stage.endsWith('SCAN'))
      .map(({ indexName }) => indexName)
      .sort();
  };
  await expect
    .poll(indexes, { timeout: PATIENCE_MS, interval: 250 })
    .toEqual(['due', 'expiry', 'mute_wake', 'rename', 'rename', 'scheduled', 'snoozes_due']);
});

test('concurrent callers share a query, and its failure', async () => {
  let looks = 0;
  const dueLooks = new DueLooks(() => {
    looks += 1;
    return Promise.reject(new Error('No database'));
  });
  const asked = NAMES.map((name) => dueLooks.isDue(name));
  expect(looks).toBe(1);
  expect(await Promise.allSettled(asked)).toEqual(
    NAMES.map(() => ({ status: 'rejected', reason: new Error('No database') })),
  );
});

test('a job begins a round only if something is due, or there was more, and continues after a failure', async () => {
  const answers: (boolean | Error)[] = [false, new Error('No database'), false, true];
  const rounds = [true, false];
  let asked = 0;
  const begun: number[] = [];
  const errors: unknown[] = [];
  await using runner = new JobRunner(
    {
      ...{ name: 'sample', every: 1, due: [{ collection: 'feeds', filter: () => ({}) }] },
      run: () => {
        begun.push(asked);
        return Promise.resolve(rounds.shift() ?? false);
      },
    },
    {
      logger: reporting((error) => errors.push(error)),
      isDue: () => {
        const answer = answers[asked] ?? false;
        asked += 1;
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    },
  );
  runner.start();
  await eventually('it was told that nothing is due any more', () => asked > answers.length + 1);
  expect(errors).toEqual([new Error('No database')]);
  expect(begun).toEqual([4, 4]);
});
