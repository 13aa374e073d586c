import { expect, test } from 'vitest';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';

/** Who asks, and whether they may see the action. */
const seen = ['find members', 'find feeds', 'find actions'];
const found = ['find interactions', ...seen];
const removed = ['update interactions', 'update interactions'];
const logged = ['update moderationLog', 'update interactions'];
const marked = ['findAndModify actions', 'update interactions'];

/** What the work asks the database for. */
async function namesOf(parts: Parts, work: () => Promise<unknown>): Promise<string[]> {
  return (await commandsOf(parts.database, work)).map(({ name, collection }) => `${name} ${collection}`);
}

test('removes, hides, shows again and edits an interaction with few commands', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session } = parts;
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  const { interaction } = await services.addInteraction(session('ann'), {
    ...{ actionId: action.id, kind: 'COMMENT', text: 'Hello' },
  });
  await services.addInteraction(session('ann'), { actionId: action.id, kind: 'LIKE' });
  const own = { actionId: action.id, kind: 'LIKE' } as const;
  const takeBack = () => services.removeInteraction(session('ann'), { own });
  const admin = () => session('root', 'admin');
  const done = {
    edited: await namesOf(parts, () => services.updateInteraction(session('ann'), interaction.id, 'Again')),
    hidden: await namesOf(parts, () => services.hideInteraction(admin(), interaction.id, null)),
    shown: await namesOf(parts, () => services.unhideInteraction(admin(), interaction.id)),
    removed: await namesOf(parts, takeBack),
    'removed again': await namesOf(parts, takeBack),
    'removed by id': await namesOf(parts, () => services.removeInteraction(admin(), { id: interaction.id })),
    texts: await namesOf(parts, () => services.latestInteractions(admin(), {})),
  };
  // Some of them run side by side.
  const inNoOrder = (lists: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(lists).map(([name, list]) => [name, list.toSorted()]);
  const expected = {
    edited: [...found, 'findAndModify interactions', 'find interactions', ...marked],
    hidden: [...found, 'findAndModify interactions', 'find interactions', ...logged, ...marked],
    shown: [
      ...found,
      // Whom it concerns, who find it where it is shown.
      // Which ruling of the queue was carried out last.
      'find interactions',
      'find interactions',
      'findAndModify interactions',
      'find interactions',
      ...logged,
      ...marked,
      'aggregate reports',
    ],
    removed: [...seen, 'find interactions', ...removed, 'aggregate actions', ...marked],
    'removed again': [...seen, 'find interactions', ...removed],
    'removed by id': [...found, ...removed, 'aggregate actions', ...marked],
    texts: ['find interactions'],
  };
  expect(inNoOrder(done)).toEqual(inNoOrder(expected));
});

test('a ref and a member are one query each', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session } = parts;
  await services.upsertRefs(parts.service, [{ id: 'site', type: 'site', label: 'Site' }]);
  await services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Ann' }]);
  const ref = await namesOf(parts, () => services.readRef(session('bob'), 'site'));
  expect(ref.sort()).toEqual(['find blocks', 'find refs']);
  const member = await namesOf(parts, () => services.readMember(session('bob'), 'ann'));
  expect(member.sort()).toEqual(['find blocks', 'find members']);
});
