import { expect, test } from 'vitest';
import { commandsOf } from '../../support/commands.ts';
import { openParts } from '../../support/parts.ts';

const BURST = 200;

test('of a burst that is over, a page in the order of time reads about as many actions as it has', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session, service } = parts;
  await services.followMany(service, [{ followerId: 'ann', refId: 'place' }]);
  // All within two seconds, ten minutes ago.
  const from = Date.now() - 600_000;
  const outcomes = await services.publishActions(
    service,
    Array.from({ length: BURST }, (_, n) => ({
      ...{ actorId: 'bob', scope: 'PUBLIC' as const, conducted: new Date(from - n * 10) },
      refs: [{ id: 'place', type: 'place', label: 'Place' }],
      descriptor: { posted: { postId: `p${String(n)}`, postTitle: 'T', text: 'x' } },
    })),
  );
  await parts.fanOut();
  const ids = outcomes.map(({ action }) => action?.id);
  let shown: string[] = [];
  const commands = await commandsOf(parts.database, async () => {
    const { edges } = await services.readFeed(session('ann'), { first: 10, order: 'RECENT' });
    shown = edges.map(({ node }) => node.actionId);
  });
  expect(shown).toEqual(ids.slice(0, 10));
  const ends = commands.flatMap(({ name, collection, command }) => {
    const { conducted } = (command['filter'] ?? {}) as { conducted?: { $gt?: Date } };
    return name === 'find' && collection === 'actions' && conducted?.$gt !== undefined ? [conducted.$gt] : [];
  });
  expect(ends.length).toBeGreaterThan(0);
  for (const end of ends) expect(end.getTime()).toBeGreaterThan(from - 20 * 10);
});
