import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { commandsOf, withoutClockReads } from '../support/commands.ts';
import { ask } from '../support/feed-api.ts';
import { AFTER, SCOPES, type Sight } from '../support/privacy-table.ts';
import { FEED_READS, postedAbout, READ_NAMES, type Target } from '../support/privacy-ways.ts';
import {
  answerTo,
  expectNothing,
  expectShown,
  openPrivacyWorld,
  publishTarget,
  unreadOf,
  type PrivacyWorld,
  type Viewer,
} from '../support/privacy-world.ts';

const LOSERS: readonly Viewer[] = ['follower of the site', 'mentioned', 'stranger'];
const KEEPERS: readonly Viewer[] = ['actor', 'team mate'];
const NEW_WORD = 'whispered';

async function expectSights(
  world: PrivacyWorld,
  viewers: readonly Viewer[],
  target: Target,
  sightOf: (viewer: Viewer) => Sight,
): Promise<void> {
  for (const viewer of viewers)
    for (const way of READ_NAMES) {
      const sight = sightOf(viewer);
      const isShown = sight === 'feed' || (sight === 'page' && !FEED_READS.includes(way));
      await (isShown ? expectShown : expectNothing)(world, viewer, way, target);
    }
}

/** Round trips for a page of somebody who is shown an action. */
async function tripsFor(app: TestApp, world: PrivacyWorld, target: Target): Promise<number> {
  const commands = await commandsOf(app.app.database, () =>
    answerTo(world, 'follower of the site', 'feed', target),
  );
  return withoutClockReads(commands).length;
}

test('an edit that shrinks the audience takes effect in every process with cached data, even without a worker', async () => {
  await using first = await startTestApp({ worker: false, monitorCommands: true });
  const { database } = first;
  await using second = await startTestApp({ worker: false, monitorCommands: true, database });
  const world = await openPrivacyWorld(first, 'PUBLIC');
  const target = await publishTarget(world, 'thing');
  {
    await using worker = await startTestApp({ api: false, database });
    await worker.idle();
  }
  const worlds = [
    [first, world],
    [second, { ...world, app: second }],
  ] as const;
  const before = (viewer: Viewer): Sight => AFTER[viewer][SCOPES.indexOf('PUBLIC')] ?? 'no';
  for (const [app, there] of worlds) {
    const cold = await tripsFor(app, there, target);
    await expectSights(there, [...LOSERS, ...KEEPERS], target, before);
    // What it holds by now it need not read again.
    expect(await tripsFor(app, there, target)).toBeLessThan(cold);
  }

  await ask(
    first,
    'mutation ($id: ID!, $input: UpdateActionInput!) { updateAction(id: $id, input: $input) { id } }',
    {
      id: target.actionId,
      input: {
        ...{ scope: 'TEAM', mentions: [] },
        descriptor: { custom: { ...postedAbout(world.id('thing')).custom, tags: [NEW_WORD] } },
      },
    },
    world.as('actor'),
  );
  for (const [, there] of worlds) {
    await expectSights(there, LOSERS, target, () => 'no');
    for (const viewer of LOSERS)
      expect([viewer, await unreadOf(there, viewer)]).toEqual([viewer, { count: 0, isExact: true }]);
    for (const viewer of KEEPERS)
      for (const way of ['action', 'slice', 'pinned', 'node'] as const) {
        await expectShown(there, viewer, way, target);
        const answer = await answerTo(there, viewer, way, target);
        expect([viewer, way, JSON.stringify(answer).includes(NEW_WORD)]).toEqual([viewer, way, true]);
      }
  }
  {
    await using worker = await startTestApp({ api: false, database });
    await worker.idle();
  }
  for (const [, there] of worlds) {
    await expectSights(there, LOSERS, target, () => 'no');
    const answer = await answerTo(there, 'team mate', 'feed', target);
    expect(JSON.stringify(answer)).toContain(NEW_WORD);
  }
});
