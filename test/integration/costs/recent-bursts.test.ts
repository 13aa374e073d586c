import { ObjectId } from 'mongodb';
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
  const ends = endsOf(commands);
  expect(ends.length).toBeGreaterThan(0);
  for (const end of ends) expect(end.getTime()).toBeGreaterThan(from - 30 * 10);
  // From then on the process knows how much time so many take.
  expect(namesOf(await pageOf(20))).not.toContain('find newsfeedItems');
});

test('of a burst of more than are ranked, the order TOP goes on with about as many actions as its page has, whatever was read before', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session, service } = parts;
  const { actions, follows } = parts.database.collections;
  await services.followMany(service, [{ followerId: 'ann', refId: 'place' }]);
  const { action } = await parts.publish({
    ...{ actorId: 'bob', scope: 'PUBLIC', refs: [{ id: 'place', type: 'place', label: 'Place' }] },
  });
  await parts.fanOut();
  const template = await actions.findOneAndDelete({ _id: new ObjectId(action.id) });
  if (template === null) throw new Error('The action is not there');
  const from = Date.now() - 600_000;
  await follows.updateMany({}, { $set: { spans: [{ since: new Date(from - 3_600_000) }] } });
  await actions.insertMany(
    Array.from({ length: 1_100 }, (_, n) => {
      const time = new Date(from - n);
      return { ...template, _id: new ObjectId(), conducted: time, recorded: time, latest: time };
    }),
  );
  await services.rebuildFeed(parts.admin, 'ann');
  await parts.fanOut();
  for (let time = 0; time < 3; time += 1) {
    const commands = await commandsOf(parts.database, async () => {
      const { edges } = await services.readFeed(session('ann'), { first: 10, order: 'TOP' });
      expect(edges).toHaveLength(10);
    });
    for (const end of endsOf(commands)) expect(end.getTime()).toBeGreaterThan(from - 20);
  }
});

/** Down to when actions are read. */
function endsOf(commands: readonly RecordedCommand[]): Date[] {
  return commands.flatMap(({ name, collection, command }) => {
    const { conducted } = (command['filter'] ?? {}) as { conducted?: { $gt?: Date } };
    return name === 'find' && collection === 'actions' && conducted?.$gt !== undefined ? [conducted.$gt] : [];
  });
}
