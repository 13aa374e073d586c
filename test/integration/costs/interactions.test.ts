import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { unrevised } from '../../../src/storage/stages/revision.ts';
import { openLiveList } from '../../support/live-list.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import type { PublishActionInput } from '../../../src/core/shapes.ts';
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

/** As if the last pass of every action had ended long ago: what it counted is certain. */
async function rested({ database }: Parts): Promise<void> {
  const doneAt = new Date(Date.now() - 60_000);
  await database.collections.actions.updateMany(
    { 'fanOut.state': 'DONE' },
    { $set: { 'fanOut.doneAt': doneAt } },
  );
}

test('a like takes five commands and no pass if it lifts nobody and none of its readers watches', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await parts.services.follow(parts.session('fan'), 'actor', null);
  const { action } = await parts.publish({ scope: 'PUBLIC', actorId: 'actor' });
  await parts.fanOut();
  await rested(parts);
  const like = (userId: string) =>
    commandsOf(parts.database, () =>
      parts.services.addInteraction(parts.session(userId), { actionId: action.id, kind: 'LIKE' }),
    );
  const stored = async () => (await parts.repositories.actions.findByIds([action.id]))[0];
  const read = ['aggregate actions', 'find members'];
  const counted = ['insert interactions', 'update actions', 'aggregate follows', 'update interactions'];
  // Once the process knows the action's actor, they are read with it.
  expect(namesOf(await like('ann'))).toEqual([...read, ...counted]);
  expect(namesOf(await like('bob'))).toEqual([...read.slice(0, 1), ...counted]);
  expect(namesOf(await like('bob'))).toEqual([
    ...read.slice(0, 1),
    'insert interactions',
    'findAndModify interactions',
  ]);
  expect(await stored()).toMatchObject({ engagement: { likes: 2 }, fanOut: { state: 'DONE' } });
  // A pass of the same moment may have counted it already.
  await parts.repositories.fanOuts.requestPass(action.id, new Date());
  await parts.fanOut();
  await like('cid');
  expect((await stored())?.fanOut.state).toBe('PENDING');
  await parts.fanOut();
  expect(await stored()).toMatchObject({ engagement: { likes: 3 }, fanOut: { state: 'DONE' } });
});

test('likes and comments lift those whom they concern without a pass, unless a reader watches or may lack the action', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'PUBLIC', conducted: new Date(Date.now() - 86_400_000) });
  const given = async (userId: string, kind: 'LIKE' | 'COMMENT' = 'LIKE'): Promise<string | undefined> => {
    await rested(parts);
    await parts.services.addInteraction(parts.session(userId), {
      ...{ actionId: action.id, kind, text: kind === 'COMMENT' ? 'Well said' : null },
    });
    return (await parts.repositories.actions.findByIds([action.id]))[0]?.fanOut.state;
  };
  const place = async (userId: string): Promise<number> =>
    (await parts.feedStore.find(userId, [action.id]))[0]?.relevancy.getTime() ?? NaN;
  await parts.services.upsertMembers(parts.service, [
    { memberId: 'aide', name: 'aide', teamId: null, departmentId: null, supervisorId: 'boss' },
    ...['mate', 'peer'].map((memberId) => ({ memberId, name: memberId, departmentId: 'sales' })),
  ]);
  for (const userId of ['aide', 'mate', 'fan'])
    await parts.services.follow(parts.session(userId), action.actorId, null);
  await parts.fanOut();
  const before = await place('fan');
  await using _stranger = await openLiveList(parts, parts.session('peer').identity);
  expect(await given('boss')).toBe('DONE');
  expect(await place('aide')).toBeGreaterThan(before);
  expect(await place('mate')).toBe(before);
  expect(await given('peer', 'COMMENT')).toBe('DONE');
  const lifted = [await place('mate'), await place('fan')];
  expect(lifted[1]).toBeGreaterThan(before);
  expect(lifted[0]).toBeGreaterThan(lifted[1] ?? NaN);
  for (const userId of ['aide', 'mate', 'fan']) {
    const known = await place(userId);
    await parts.services.rebuildFeed(parts.admin, userId);
    await parts.fanOut();
    expect(await place(userId)).toBe(known);
  }
  const floor = { relevancy: new Date((lifted[1] ?? NaN) - 1_000), actionId: action.id };
  await parts.repositories.feeds.raiseFloor('mate', floor, new Date(Date.now() + 60_000));
  expect(await given('peer', 'COMMENT')).toBe('PENDING');
  await parts.fanOut();
  await using list = await openLiveList(parts, parts.session('fan').identity);
  expect(await given('stranger')).toBe('PENDING');
  await parts.fanOut();
  await list.caughtUp();
  expect(list.shown.get(action.id)?.action.engagement).toMatchObject({ likes: 2, comments: 2 });
});

const OLD = { scope: 'PUBLIC', conducted: new Date(Date.now() - 86_400_000) } as const;

test.for<[string, Partial<PublishActionInput>, (parts: Parts, actionId: string) => Promise<unknown>]>([
  ['follows its actor', OLD, ({ services, session }) => services.follow(session('ann'), 'actor', null)],
  [
    'followed its actor when it was published',
    OLD,
    async ({ services, session, fanOut }) => {
      await services.follow(session('ann'), 'actor', null);
      await fanOut();
      await services.unfollow(session('ann'), 'actor', true);
    },
  ],
  [
    'follows who passed it on',
    OLD,
    async ({ services, session }, actionId) => {
      await services.follow(session('ann'), 'bob', null);
      await services.addInteraction(session('bob'), { actionId, kind: 'RESHARE' });
    },
  ],
  ['is mentioned', { ...OLD, mentions: ['ann'] }, () => Promise.resolve()],
  ['receives it', { ...OLD, scope: 'RESTRICTED', recipients: ['ann', 'dan'] }, () => Promise.resolve()],
  ['is in the team', { ...OLD, scope: 'TEAM' }, () => Promise.resolve()],
  ['is in the department', { ...OLD, scope: 'DEPARTMENT' }, () => Promise.resolve()],
])('who %s and watches learns at once that somebody likes it', async ([, input, address]) => {
  await using parts = await openParts();
  await parts.services.upsertMembers(
    parts.service,
    ['ann', 'actor', 'dan'].map((memberId) => ({ memberId, name: memberId, teamId: 't', departmentId: 'd' })),
  );
  const { action } = await parts.publish({
    ...input,
    actorId: 'actor',
    refs: [{ id: 'actor', type: 'member', label: 'Actor' }],
  });
  await address(parts, action.id);
  await parts.fanOut();
  await rested(parts);
  await using list = await openLiveList(parts, parts.session('ann').identity);
  expect([...list.shown.keys()]).toEqual([action.id]);
  await parts.services.addInteraction(parts.session('dan'), { actionId: action.id, kind: 'LIKE' });
  await parts.fanOut();
  await list.caughtUp();
  expect(list.shown.get(action.id)?.action.engagement.likes).toBe(1);
});

test('who likes what its readers watch has it counted by a pass, and from the second time on by nothing else', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await parts.services.follow(parts.session('ann'), 'actor', null);
  const { action } = await parts.publish({ scope: 'PUBLIC', actorId: 'actor' });
  await parts.fanOut();
  await using _list = await openLiveList(parts, parts.session('ann').identity);
  const like = async (userId: string) => {
    await rested(parts);
    const commands = await commandsOf(parts.database, () =>
      parts.services.addInteraction(parts.session(userId), { actionId: action.id, kind: 'LIKE' }),
    );
    await parts.fanOut();
    return namesOf(commands).filter((name) => name.endsWith(' actions'));
  };
  expect(await like('bob')).toEqual(['aggregate actions', 'update actions', 'findAndModify actions']);
  expect(await like('cid')).toEqual(['aggregate actions', 'findAndModify actions']);
  const [stored] = await parts.repositories.actions.findByIds([action.id]);
  expect(stored?.engagement.likes).toBe(2);
});

test('an action with many readers is liked with a pass as soon as anybody watches', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  await parts.fanOut();
  await parts.database.collections.actions.updateMany({}, { $set: { 'fanOut.delivered': 101 } });
  const state = async (userId: string) => {
    await rested(parts);
    await parts.services.addInteraction(parts.session(userId), { actionId: action.id, kind: 'LIKE' });
    return (await parts.repositories.actions.findByIds([action.id]))[0]?.fanOut.state;
  };
  expect(await state('ann')).toBe('DONE');
  await using _list = await openLiveList(parts, parts.session('stranger').identity);
  expect(await state('bob')).toBe('PENDING');
});

test('a comment takes six commands and no pass if it concerns nobody, and one more if it does', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await parts.services.followMany(
    parts.service,
    ['ann', 'bob', 'cid'].map((followerId) => ({ followerId, refId: 'actor' })),
  );
  await parts.services.upsertMembers(parts.service, [
    ...['ann', 'mate'].map((memberId) => ({ memberId, name: memberId, departmentId: 'sales' })),
  ]);
  const { action } = await parts.publish({ actorId: 'actor' });
  await parts.fanOut();
  await rested(parts);
  const comment = (userId: string) =>
    commandsOf(parts.database, () =>
      parts.services.addInteraction(parts.session(userId), {
        ...{ actionId: action.id, kind: 'COMMENT', text: 'Well said' },
      }),
    );
  const counted = ['insert interactions', 'update actions', 'aggregate follows'];
  await comment('bob');
  // The process knows by now what decides whether a follower may see it.
  expect(namesOf(await comment('cid')).sort()).toEqual(
    ['aggregate actions', ...counted, 'update newsfeedItems', 'update interactions'].sort(),
  );
  expect(namesOf(await comment('ann')).sort()).toEqual(
    [
      ...['aggregate actions', ...counted, 'find feeds'],
      ...['update newsfeedItems', 'update interactions'],
    ].sort(),
  );
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

test('an interaction of 1970 lifts nobody, also if it concerns somebody', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'PUBLIC', mentions: ['ann'] });
  await parts.fanOut();
  await rested(parts);
  const before = await parts.feedStore.find('ann', [action.id]);
  const like = { actionId: action.id, kind: 'LIKE', at: new Date(0) } as const;
  expect(
    (await parts.services.addInteraction(parts.session('bob', 'admin'), like)).action.engagement.likes,
  ).toBe(1);
  expect(await parts.feedStore.find('ann', [action.id])).toEqual(before);
});

/** Followed by `fan` and `doer`, to whom the second is assigned, and recorded and delivered some time ago. */
async function openPosts(parts: Parts, names: readonly string[]) {
  await parts.services.followMany(parts.service, [
    ...names.map((refId) => ({ followerId: 'fan', refId })),
    ...names.map((refId, at) => ({ followerId: 'doer', refId, isAssigned: at === 1 })),
  ]);
  const conducted = new Date(Date.now() - 86_400_000);
  const ids = new Map<string, string>();
  for (const id of names) {
    const refs = [{ id, label: id, type: 'post' }];
    ids.set(id, (await parts.publish({ scope: 'PUBLIC', conducted, refs })).action.id);
  }
  const idOf = (name: string): string => ids.get(name) ?? '';
  await parts.fanOut();
  await rested(parts);
  return {
    idOf,
    commentAll: () =>
      Promise.all(
        names.flatMap((name) =>
          ['ann', 'bob', 'cid', 'dan', 'eve'].map((userId) =>
            parts.services.addInteraction(parts.session(userId), {
              ...{ actionId: idOf(name), kind: 'COMMENT', text: 'Well said' },
            }),
          ),
        ),
      ),
    stored: async (name: string) => (await parts.repositories.actions.findByIds([idOf(name)]))[0],
    place: async (userId: string, name: string): Promise<number> =>
      (await parts.feedStore.find(userId, [idOf(name)]))[0]?.relevancy.getTime() ?? NaN,
  };
}

test('comments at the same time are counted and raised for their own actions, in a few commands', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const names = ['one', 'two', 'three', 'four'];
  const { commentAll, stored, place } = await openPosts(parts, names);
  const before = await place('fan', 'one');
  const commands = await commandsOf(parts.database, commentAll);
  // One of each kind, but for the five whose action concerns somebody as well: they come later.
  expect(commands.length).toBeLessThanOrEqual(11);
  for (const name of names) {
    expect(await stored(name)).toMatchObject({ engagement: { comments: 5 }, fanOut: { state: 'DONE' } });
    expect(await place('fan', name)).toBeGreaterThan(before);
    expect((await place('doer', name)) > (await place('fan', name))).toBe(name === 'two');
  }
});

test('of comments at the same time, only those need a pass that the last pass of their action may have counted', async () => {
  await using parts = await openParts();
  const { idOf, commentAll, stored, place } = await openPosts(parts, ['rests', 'changes', 'rests too']);
  const before = await place('fan', 'changes');
  await parts.database.collections.actions.updateOne(
    { _id: new ObjectId(idOf('changes')) },
    unrevised({ $set: { 'fanOut.doneAt': new Date() } }),
  );
  for (const { interaction, action } of await commentAll()) {
    expect(action.id).toBe(interaction.actionId);
    expect(action.engagement.comments).toBeGreaterThan(0);
  }
  for (const name of ['rests', 'rests too'])
    expect(await stored(name)).toMatchObject({ engagement: { comments: 5 }, fanOut: { state: 'DONE' } });
  expect((await stored('changes'))?.fanOut.state).toBe('PENDING');
  await parts.fanOut();
  expect(await stored('changes')).toMatchObject({ engagement: { comments: 5 }, fanOut: { state: 'DONE' } });
  expect(await place('fan', 'changes')).toBeGreaterThan(before);
});
