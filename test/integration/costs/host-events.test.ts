import { expect, test } from 'vitest';
import type { JobRunner } from '../../../src/jobs/job.ts';
import { events } from '../../../parts/events/src/jobs/event-mover.ts';
import { commandsOf, stagesOf, type RecordedCommand } from '../../support/commands.ts';
import { runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const HOUR_MS = 3_600_000;

const namesOf = (commands: readonly RecordedCommand[]): string[] =>
  commands.map(({ name, collection }) => `${name} ${collection}`);

/** One that has the lease, has tidied up, and finds nothing. */
async function idleMover({ core }: Parts): Promise<JobRunner> {
  const mover = runnerOf((setup) => events(setup, HOUR_MS), core, {
    events: { retentionMs: HOUR_MS, digests: null },
    env: { NOTIFY_AFTER: 'off' },
  });
  while (await mover.round());
  return mover;
}

test('a round looks for events of all kinds with one command, and moves them with two and one per kind', async () => {
  await using parts = await openParts({ monitorCommands: true, recordsEvents: true });
  const { database, service, services, session } = parts;
  await using mover = await idleMover(parts);
  const roundOf = async (): Promise<string[]> =>
    namesOf(await commandsOf(database, () => mover.round(new Date(Date.now() + HOUR_MS))));
  expect(await roundOf()).toEqual(['aggregate actions']);
  for (const count of [1, 20]) {
    for (let n = 0; n < count; n += 1) await parts.publish({});
    expect(await roundOf()).toEqual([
      'aggregate actions',
      'aggregate hostEvents',
      'insert hostEvents',
      'update actions',
    ]);
  }
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  await services.addInteraction(session('ann'), { actionId: action.id, kind: 'LIKE' });
  await services.followMany(service, [{ followerId: 'ann', refId: 'actor' }]);
  expect((await roundOf()).sort()).toEqual([
    'aggregate actions',
    'aggregate hostEvents',
    'delete follows',
    'insert hostEvents',
    'update actions',
    'update follows',
    'update interactions',
  ]);
});

test('each kind is read by its index', async () => {
  await using parts = await openParts({ monitorCommands: true, recordsEvents: true });
  await using mover = await idleMover(parts);
  const [look] = await commandsOf(parts.database, () => mover.round(new Date()));
  if (look === undefined) throw new Error('It has not looked');
  const indexes = async (): Promise<(string | null)[]> =>
    (await stagesOf(parts.database, look))
      .filter(({ stage }) => stage.endsWith('SCAN'))
      .map(({ indexName }) => indexName);
  await expect.poll(indexes, { timeout: PATIENCE_MS, interval: 250 }).toEqual(Array(6).fill('unsent'));
});
