import { expect, test } from 'vitest';
import { commandsOf, type RecordedCommand } from '../../support/commands.ts';
import { openParts } from '../../support/parts.ts';

const BURST = 200;

const namesOf = (commands: readonly RecordedCommand[]): string[] =>
  commands.map(({ name, collection }) => `${name} ${collection}`);

test('of a burst that is over, pages in the order of time read about as many actions as they have, the first one nothing that the reader follows', async () => {
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
  let after: string | null = null;
  const pageOf = async (from: number): Promise<RecordedCommand[]> => {
    let shown: string[] = [];
    const sent = await commandsOf(parts.database, async () => {
      const page = await services.readFeed(session('ann'), { first: 10, after, order: 'RECENT' });
      shown = page.edges.map(({ node }) => node.actionId);
      after = page.end;
    });
    expect(shown).toEqual(ids.slice(from, from + 10));
    return sent;
  };
  await pageOf(0);
  after = null;
  // With what was conducted ahead of the clock.
  expect(namesOf(await pageOf(0))).toEqual(['aggregate feeds', 'find actions']);
  const commands = await pageOf(10);
  const ends = commands.flatMap(({ name, collection, command }) => {
    const { conducted } = (command['filter'] ?? {}) as { conducted?: { $gt?: Date } };
    return name === 'find' && collection === 'actions' && conducted?.$gt !== undefined ? [conducted.$gt] : [];
  });
  expect(ends.length).toBeGreaterThan(0);
  for (const end of ends) expect(end.getTime()).toBeGreaterThan(from - 30 * 10);
  // From then on the process knows how much time so many take.
  expect(namesOf(await pageOf(20))).not.toContain('find newsfeedItems');
});
