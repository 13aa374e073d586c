import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { DueKind } from '../../../src/storage/due/due-work.ts';
import { DueLooks, JobRunner } from '../../../src/jobs/job.ts';
import { eventually } from '../../conformance/live-log-tools.ts';
import { commandsOf, stagesOf } from '../../support/commands.ts';
import { reporting } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const HOUR_MS = 3_600_000;
const NOW = new Date();
const EARLIER = new Date(NOW.getTime() - 1_000);
const LATER = new Date(NOW.getTime() + HOUR_MS);

/** What makes work of a kind due at a time. */
const WORK: Readonly<Record<DueKind, (parts: Parts, at: Date) => Promise<unknown>>> = {
  async expiry({ publish, database }, at) {
    const { action } = await publish({ expiresAt: LATER });
    return database.collections.actions.updateOne(
      { _id: new ObjectId(action.id) },
      { $set: { expiresAt: at } },
    );
  },
  muteEnd: ({ database }, at) =>
    database.collections.feeds.updateOne(
      { _id: 'ann' },
      { $set: { muteEnd: { due: at } } },
      { upsert: true },
    ),
  snooze: ({ database }, at) =>
    database.collections.itemMarks.updateOne(
      { _id: { userId: 'ann', actionId: new ObjectId() } },
      { $set: { state: 'SNOOZED', at: EARLIER, until: at, lifting: { due: at } } },
      { upsert: true },
    ),
  async rename({ service, services, database }, at) {
    await services.upsertRefs(service, [{ id: 'site-1', type: 'site', label: 'Site' }]);
    return database.collections.refs.updateOne({ _id: 'site-1' }, { $set: { 'rename.due': at } });
  },
};
const KINDS = Object.keys(WORK) as readonly DueKind[];

test.each(KINDS)('work of the kind %s is found once it is due', async (kind) => {
  await using parts = await openParts();
  const { dueWork } = parts.repositories;
  expect(await dueWork.kinds(NOW)).toEqual(new Set());
  await WORK[kind](parts, LATER);
  expect(await dueWork.kinds(NOW)).toEqual(new Set());
  await WORK[kind](parts, EARLIER);
  expect(await dueWork.kinds(NOW)).toEqual(new Set([kind]));
});

test('all due work is found with one command, which reads each index', async () => {
  await using parts = await openParts({ monitorCommands: true });
  for (const kind of KINDS) await WORK[kind](parts, EARLIER);
  const looks = await commandsOf(parts.database, async () => {
    expect(await parts.repositories.dueWork.kinds(NOW)).toEqual(new Set(KINDS));
  });
  expect(looks.map(({ name, collection }) => `${name} ${collection}`)).toEqual(['aggregate actions']);
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
    .toEqual(['expiry', 'mute_wake', 'rename', 'rename', 'snoozes_due']);
});

test('concurrent callers share a query, and its failure', async () => {
  let looks = 0;
  const due = new DueLooks({
    kinds: () => {
      looks += 1;
      return Promise.reject(new Error('No database'));
    },
  });
  const asked = KINDS.map((kind) => due.isDue(kind));
  expect(looks).toBe(1);
  expect(await Promise.allSettled(asked)).toEqual(
    KINDS.map(() => ({ status: 'rejected', reason: new Error('No database') })),
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
      ...{ name: 'sample', every: 1, due: 'expiry' },
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
