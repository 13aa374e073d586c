import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { commandsOf, stagesOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const REF = { id: 'site', type: 'site', label: 'Site' };
const COUNTED = { monitorCommands: true };

async function namesOf(parts: Parts, work: () => Promise<unknown>): Promise<string[]> {
  return (await commandsOf(parts.database, work)).map(({ name, collection }) => `${name} ${collection}`);
}

test('an edit takes four round trips, and three more if it is logged', async () => {
  await using parts = await openParts(COUNTED);
  const { services, session } = parts;
  const { action } = await parts.publish({ scope: 'PUBLIC', refs: [REF] });
  const edit = (by: ReturnType<typeof session>) =>
    services.updateAction(by, action.id, { mentions: ['ann'] });
  const own = await namesOf(parts, () => edit(session('actor')));
  expect(own.slice(0, 3).sort()).toEqual(['find actions', 'find feeds', 'find members']);
  expect(own.slice(3)).toEqual(['find blocks', 'find actions', 'findAndModify actions']);
  const logged = await namesOf(parts, () => edit(session('root', 'admin')));
  expect(logged.slice(6)).toEqual(['find actions', 'update moderationLog', 'update actions']);
});

test('a page reads follows of edited actions only', async () => {
  await using parts = await openParts(COUNTED);
  // Enough for a planner to prefer an index over reading everything.
  await parts.database.collections.follows.insertMany(
    Array.from({ length: 5_000 }, (_, n) => ({
      ...{ _id: new ObjectId(), followerId: `u${String(n)}`, refId: 'elsewhere', active: true },
      spans: [{ since: new Date(0) }],
    })),
  );
  const { services, session } = parts;
  for (const ref of ['site', 'other']) await services.follow(session('ann'), ref, 0);
  const { action } = await parts.publish({ refs: [REF] });
  await parts.publish({ refs: [{ ...REF, id: 'other' }] });
  await parts.fanOut();
  await parts.feedOf('ann');
  const page = () => commandsOf(parts.database, () => services.readFeed(session('ann'), {}));
  const collectionsOf = (commands: Awaited<ReturnType<typeof page>>): string[] =>
    commands.map(({ collection }) => collection).sort();
  expect(collectionsOf(await page())).toEqual(['feeds']);
  await services.updateAction(session('actor'), action.id, {
    descriptor: { custom: { verb: 'moved', objectType: 'post', objectId: '1' } },
  });
  await parts.fanOut();
  expect(collectionsOf(await page())).toEqual(['actions', 'feeds']);
  await services.updateAction(session('actor'), action.id, { mentions: ['bob'] });
  await parts.fanOut();
  const commands = await page();
  expect(collectionsOf(commands)).toEqual(['actions', 'feeds', 'follows']);
  const asked = commands.find(({ collection }) => collection === 'follows');
  expect(JSON.stringify(asked?.command['filter'])).not.toContain('other');
  if (asked === undefined) throw new Error('No follows were asked for');
  await expect
    .poll(() => stagesOf(parts.database, asked), { timeout: PATIENCE_MS, interval: 250 })
    .toSatisfy((stages: Awaited<ReturnType<typeof stagesOf>>) =>
      stages.every(({ stage }) => stage !== 'COLLSCAN'),
    );
});
