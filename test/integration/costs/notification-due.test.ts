import { expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import { dueNotifications } from '../../../parts/notifications/src/due.ts';
import { commandsOf, stagesOf, type RecordedCommand } from '../../support/commands.ts';
import { eventMover } from '../../support/events.ts';
import { runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const namesOf = (commands: readonly RecordedCommand[]): string[] =>
  commands.map(({ name, collection }) => `${name} ${collection}`);
const later = (): Date => new Date(Date.now() + 60_000);

/** What moving the events takes more than without notifications. */
async function noting(parts: Parts): Promise<readonly string[]> {
  await parts.fanOut();
  await using mover = eventMover(parts.database.collections, { env: { NOTIFY_AFTER: '0s' } });
  const names = namesOf(await commandsOf(parts.database, () => mover.round(later())));
  const behind = names.lastIndexOf('insert hostEvents') + 1;
  // Behind that the events are removed from where they were.
  return names
    .slice(behind)
    .filter((name) => /^find |notificationStates/.test(name))
    .sort();
}

test('moved events are noted by a read of each kind of documents and one write, whatever their number', async () => {
  await using parts = await openParts({ monitorCommands: true, recordsEvents: true });
  const { services, session, service } = parts;
  await services.upsertMembers(service, [{ memberId: 'ann', name: 'Ann' }]);
  await noting(parts);
  const { action } = await parts.publish({ actorId: 'ann', scope: 'PUBLIC' });
  const other = await parts.publish({ actorId: 'bea', scope: 'PUBLIC', mentions: ['ann', 'cid'] });
  expect(await noting(parts)).toEqual(['find actions', 'update notificationStates']);
  for (const userId of ['bea', 'cid', 'dan'])
    for (const actionId of [action.id, other.action.id])
      await services.addInteraction(session(userId), { actionId, kind: 'LIKE' });
  expect(await noting(parts)).toEqual([
    ...['find actions', 'find interactions', 'update notificationStates'],
  ]);
  await services.follow(session('bea'), 'ann', 0);
  await services.follow(session('bea'), 'berlin', 0);
  expect(await noting(parts)).toEqual(['find follows', 'find members', 'update notificationStates']);
  await services.markFeedRead(session('ann'), clock.now());
  await services.removeInteraction(session('bea'), { own: { actionId: action.id, kind: 'LIKE' } });
  expect(await noting(parts)).toEqual([]);
});

test('a round looks once by index if nothing is due, and takes at most four commands per member, and three for all', async () => {
  await using parts = await openParts({ monitorCommands: true, recordsEvents: true });
  await using worker = runnerOf(dueNotifications, parts.core);
  // Enough for a planner to prefer the index over reading everything, once it has counted them in the background.
  await parts.database.collections.notificationStates.insertMany(
    Array.from({ length: 5_000 }, (_, n) => ({ _id: `idle-${String(n)}` })),
  );
  const idle = await commandsOf(parts.database, () => worker.round(later()));
  expect(namesOf(idle)).toEqual(['find notificationStates']);
  const [look] = idle;
  if (look === undefined) throw new Error('It has not looked');
  await expect
    .poll(() => stagesOf(parts.database, look), { timeout: PATIENCE_MS, interval: 250 })
    .toContainEqual(expect.objectContaining({ indexName: 'due' }));
  for (const mentions of [['ann'], ['bob', 'cid', 'dan']]) {
    await parts.publish({ mentions });
    await noting(parts);
    const commands = namesOf(await commandsOf(parts.database, () => worker.round(later())));
    // An action that members share is read by the first of them, or by all that ask at the same time.
    const actions = commands.filter((name) => name === 'find actions').length;
    expect(actions).toBeGreaterThanOrEqual(1);
    expect(actions).toBeLessThanOrEqual(mentions.length);
    expect(commands).toHaveLength(3 + 3 * mentions.length + actions);
    expect(commands.filter((name) => name.endsWith(' eventOutbox'))).toHaveLength(mentions.length);
  }
});
