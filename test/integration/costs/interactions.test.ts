import { expect, test } from 'vitest';
import { openLiveList } from '../../support/live-list.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts } from '../../support/parts.ts';
import { OWN_INTERACTIONS } from '../../../src/features/interactions/read-interactions.ts';

const namesOf = (commands: Awaited<ReturnType<typeof commandsOf>>): string[] =>
  commands.map((command) => `${command.name} ${command.collection}`);

test("reads the viewer's interactions with 25 actions once, and the interactions of all of them once", async () => {
  await using parts = await openParts({ monitorCommands: true });
  const ids: string[] = [];
  for (let n = 0; n < 25; n += 1) ids.push((await parts.publish({ scope: 'PUBLIC' })).action.id);
  for (const actionId of ids.slice(0, 3))
    await parts.services.addInteraction(parts.session('ann'), { actionId, kind: 'COMMENT', text: actionId });
  const session = parts.session('ann');
  const own = await commandsOf(parts.database, () => session.loadMany(OWN_INTERACTIONS, ids));
  expect(namesOf(own)).toEqual(['aggregate interactions']);
  const pages: (string | null)[] = [];
  const lists = await commandsOf(parts.database, () =>
    Promise.all(
      ids.map(async (id) => {
        const page = await parts.services.listInteractions(session, id, { first: 3 });
        pages.push(...page.edges.map(({ node }) => node.text));
      }),
    ),
  );
  // An operation has read the reader already, to decide about the actions.
  expect(namesOf(lists)).toEqual(['aggregate actions', 'find members', 'find feeds']);
  expect(pages.sort()).toEqual(ids.slice(0, 3).sort());
});

test('records in five round trips, and a replay in four', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  const like = () =>
    commandsOf(parts.database, () =>
      parts.services.addInteraction(parts.session('ann'), { actionId: action.id, kind: 'LIKE' }),
    );
  const [first, repeated] = [namesOf(await like()), namesOf(await like())];
  const begun = ['find members', 'insert interactions'];
  for (const reads of [first, repeated])
    expect(reads.splice(0, 2).sort()).toEqual(['find actions', 'find blocks']);
  expect(first).toEqual([...begun, 'findAndModify actions', 'update interactions']);
  expect(repeated).toEqual([...begun, 'findAndModify interactions']);
});

test('likes, their removal and comments by four readers at once give the same state everywhere, also in live lists', async () => {
  await using parts = await openParts();
  const people = ['ann', 'bob', 'cid', 'dan'];
  const { action } = await parts.publish({ scope: 'PUBLIC', mentions: people });
  await parts.fanOut();
  await using worker = parts.worker();
  worker.start();
  await using list = await openLiveList(parts, parts.session('ann').identity);
  const actionId = action.id;
  await Promise.all(
    people.flatMap((userId) => [
      (async () => {
        for (let n = 0; n < 3; n += 1) {
          await parts.services.addInteraction(parts.session(userId), { actionId, kind: 'LIKE' });
          await parts.services.removeInteraction(parts.session(userId), { own: { actionId, kind: 'LIKE' } });
        }
        if (userId !== 'ann')
          await parts.services.addInteraction(parts.session(userId), { actionId, kind: 'LIKE' });
      })(),
      parts.services.addInteraction(parts.session(userId), { actionId, kind: 'COMMENT', text: userId }),
    ]),
  );
  await parts.idle();
  await list.caughtUp();
  const shown = list.events.flatMap((event) =>
    event.kind === 'added' || event.kind === 'updated' ? [event.item.action.engagement] : [],
  );
  const [stored] = await parts.repositories.actions.findByIds([actionId]);
  const counted = (await parts.repositories.interactions.summaries([actionId])).get(actionId)?.engagement;
  expect(counted).toMatchObject({ likes: 3, comments: 4 });
  expect([stored?.engagement, shown.at(-1)]).toEqual([counted, counted]);
  const done = await Promise.all(
    people.map(async (userId) =>
      (await parts.session(userId).load(OWN_INTERACTIONS, actionId))?.kinds.has('LIKE'),
    ),
  );
  expect(done).toEqual([false, true, true, true]);
});
