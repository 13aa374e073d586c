import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { Interaction } from '../../../src/domain/interaction.ts';
import type { Role } from '../../../src/domain/viewer.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';

async function thread(parts: Parts) {
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  const write = async (userId: string, text: string, parentId?: string): Promise<Interaction> =>
    (
      await parts.services.addInteraction(parts.session(userId), {
        ...{ actionId: action.id, kind: 'COMMENT', text, parentId },
      })
    ).interaction;
  const first = await write('ann', 'First');
  const reply = await write('bob', 'Reply', first.id);
  const second = await write('cid', 'Second');
  return { action, write, first, reply, second };
}

async function textsFor(
  parts: Parts,
  actionId: string,
  args: Parameters<Parts['services']['listInteractions']>[2] = {},
  userId = 'dan',
  ...roles: Role[]
): Promise<(string | null)[]> {
  const session = parts.session(userId, ...roles);
  const texts: (string | null)[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<Parts['services']['listInteractions']>> =
      await parts.services.listInteractions(session, actionId, { first: 2, ...args, after });
    texts.push(...page.edges.map(({ node }) => node.text));
    if (!page.hasMore) return texts;
    after = page.end;
  }
}

test('lists comments newest first: all, top-level ones, or the replies to one', async () => {
  await using parts = await openParts();
  const { action, first } = await thread(parts);
  await parts.services.addInteraction(parts.session('ann'), { actionId: action.id, kind: 'LIKE' });
  expect(await textsFor(parts, action.id, { kinds: ['COMMENT'] })).toEqual(['Second', 'Reply', 'First']);
  expect(await textsFor(parts, action.id)).toEqual([null, 'Second', 'Reply', 'First']);
  expect(await textsFor(parts, action.id, { kinds: ['COMMENT'], parentId: null })).toEqual([
    'Second',
    'First',
  ]);
  expect(await textsFor(parts, action.id, { parentId: first.id })).toEqual(['Reply']);
  expect(await textsFor(parts, action.id, { kinds: [] })).toEqual([]);
});

test('rejects replies to replies, to other interactions, and to invisible comments', async () => {
  await using parts = await openParts();
  const { action, first, reply, write } = await thread(parts);
  await expect(write('ann', 'x', reply.id)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  const like = await parts.services.addInteraction(parts.session('ann'), {
    actionId: action.id,
    kind: 'LIKE',
  });
  await expect(write('ann', 'x', like.interaction.id)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  const other = await thread(parts);
  await parts.services.hideInteraction(parts.session('admin', 'admin'), first.id, null);
  for (const parentId of [other.first.id, first.id, 'f'.repeat(24)])
    await expect(write('ann', 'x', parentId)).rejects.toMatchObject({
      ...{ code: 'NOT_FOUND', message: 'There is no such comment' },
    });
});

test('a reply sent again with its key is a replay, also if the comment was removed meanwhile', async () => {
  await using parts = await openParts();
  const { action, first, second } = await thread(parts);
  const reply = (parentId: string, idempotencyKey: string, userId = 'dan') =>
    parts.services.addInteraction(parts.session(userId), {
      ...{ actionId: action.id, kind: 'COMMENT', text: 'Reply', parentId, idempotencyKey },
    });
  const given = [await reply(first.id, 'to first'), await reply(second.id, 'to second')];
  await parts.services.removeInteraction(parts.session('ann'), { id: first.id });
  await parts.services.hideInteraction(parts.session('admin', 'admin'), second.id, null);
  const again = [await reply(first.id, 'to first'), await reply(second.id, 'to second')];
  expect(again.map(({ interaction, isReplay }) => [interaction, isReplay])).toEqual(
    given.map(({ interaction }) => [interaction, true]),
  );
  const gone = { code: 'NOT_FOUND', message: 'There is no such comment' };
  await expect(reply(first.id, 'new')).rejects.toMatchObject(gone);
  await expect(reply(first.id, 'to first', 'eve')).rejects.toMatchObject(gone);
});

test.each([
  ['text of a like', { kind: 'LIKE', text: 'x' }],
  ['parent of a like', { kind: 'LIKE', parentId: 'f'.repeat(24) }],
  ['reaction of a comment', { kind: 'COMMENT', reaction: '👍' }],
  ['a reaction without one', { kind: 'REACTION' }],
  ['no text', { kind: 'COMMENT', text: '' }],
  ['too long a text', { kind: 'COMMENT', text: 'x'.repeat(10_001) }],
  ['too much data', { kind: 'COMMENT', data: { x: 'x'.repeat(4_096) } }],
])('rejects %s, before anything is written', async (_what, input) => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  await expect(
    parts.services.addInteraction(parts.session('ann'), { actionId: action.id, ...input }),
  ).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(await parts.database.collections.interactions.countDocuments()).toBe(0);
});

test('accepts the longest text and the most data', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  const text = 'x'.repeat(10_000);
  const data = { x: 'y'.repeat(4_096 - '{"x":""}'.length) };
  const { interaction } = await parts.services.addInteraction(parts.session('ann'), {
    ...{ actionId: action.id, kind: 'COMMENT', text, data },
  });
  const stored = await parts.services.getInteraction(parts.session('bob'), interaction.id);
  expect(stored).toMatchObject({ text, data, state: 'VISIBLE', editedAt: null });
});

test('its actor or, with an entry in the log, an admin edits a comment, which bumps nothing', async () => {
  await using parts = await openParts();
  const { action, first } = await thread(parts);
  await parts.fanOut();
  const [before] = await parts.repositories.actions.findByIds([action.id]);
  const edited = await parts.services.updateInteraction(parts.session('ann'), first.id, 'Better');
  expect(edited).toMatchObject({ text: 'Better', at: first.at });
  expect(edited.editedAt).not.toBeNull();
  await expect(
    parts.services.updateInteraction(parts.session('bob'), first.id, 'Mine'),
  ).rejects.toMatchObject({ code: 'FORBIDDEN' });
  const admin = parts.session('admin', 'admin');
  await parts.services.updateInteraction(admin, first.id, 'Moderated');
  await parts.services.updateInteraction(admin, first.id, 'Moderated');
  await parts.fanOut();
  const [after] = await parts.repositories.actions.findByIds([action.id]);
  expect([after?.latest, after?.engagement]).toEqual([before?.latest, before?.engagement]);
  const log = await parts.services.readModerationLog(admin, { actionId: action.id });
  expect(log.edges.map(({ node }) => [node.kind, node.by, node.interactionId])).toEqual([
    ['EDIT_INTERACTION', 'admin', first.id],
  ]);
  expect(await textsFor(parts, action.id)).toEqual(['Second', 'Reply', 'Moderated']);
});

test('hidden interactions are for admins, removed ones for nobody, and their text is deleted', async () => {
  await using parts = await openParts();
  const { action, first, second } = await thread(parts);
  await parts.services.hideInteraction(parts.session('admin', 'admin'), first.id, null);
  await parts.services.removeInteraction(parts.session('cid'), { id: second.id });
  expect(await textsFor(parts, action.id)).toEqual(['Reply']);
  expect(await textsFor(parts, action.id, {}, 'ann')).toEqual(['Reply']);
  expect(await textsFor(parts, action.id, {}, 'admin', 'admin')).toEqual(['Reply', 'First']);
  for (const [id, userId, role, isShown] of [
    [first.id, 'ann', 'user', false],
    [first.id, 'admin', 'admin', true],
    [second.id, 'cid', 'user', false],
    [second.id, 'admin', 'admin', false],
  ] as const) {
    const shown = await parts.services.getInteraction(parts.session(userId, role), id);
    expect([id, userId, shown !== null]).toEqual([id, userId, isShown]);
  }
  await expect(parts.services.updateInteraction(parts.session('ann'), first.id, 'x')).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  const [stored] = await parts.database.collections.interactions.find({ state: 'REMOVED' }).toArray();
  expect(stored).not.toHaveProperty('text');
});

test('own comments are removed by their actor, those of others by services and admins', async () => {
  await using parts = await openParts();
  const { first, reply, second } = await thread(parts);
  const remove = (id: string, ...who: Parameters<Parts['session']>) =>
    parts.services.removeInteraction(parts.session(...who), { id });
  await expect(remove(first.id, 'bob')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(await remove(first.id, 'ann')).toMatchObject({ isReplay: false });
  expect(await remove(first.id, 'ann')).toMatchObject({ isReplay: true });
  // For others it is not there any more.
  await expect(remove(first.id, 'bob')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await remove(reply.id, 'service', 'service')).toMatchObject({
    action: { engagement: { comments: 1 } },
  });
  expect(await remove(second.id, 'admin', 'admin')).toMatchObject({
    action: { engagement: { comments: 0 } },
  });
  await expect(remove('f'.repeat(24), 'ann')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test.each(['removed', 'hidden'] as const)('replies to a %s comment stay visible and counted', async (how) => {
  await using parts = await openParts();
  const { services, session } = parts;
  const { action, first } = await thread(parts);
  if (how === 'removed') await services.removeInteraction(session('ann'), { id: first.id });
  else await services.hideInteraction(session('root', 'admin'), first.id, null);
  const left = await services.getAction(session('dan'), action.id);
  expect(left).toMatchObject({ engagement: { comments: 2 } });
  expect(await textsFor(parts, action.id, { kinds: ['COMMENT'] })).toEqual(['Second', 'Reply']);
  expect(await textsFor(parts, action.id, { parentId: first.id })).toEqual(['Reply']);
});

test('admins see the newest texts of all actions, page by page', async () => {
  await using parts = await openParts();
  const { first } = await thread(parts);
  await thread(parts);
  await parts.services.removeInteraction(parts.session('ann'), { id: first.id });
  const admin = () => parts.session('admin', 'admin');
  const page = await parts.services.latestInteractions(admin(), { first: 3 });
  expect(page.edges.map(({ node }) => node.text)).toEqual(['Second', 'Reply', 'First']);
  const rest = await parts.services.latestInteractions(admin(), { first: 3, after: page.end });
  expect(rest.edges.map(({ node }) => node.text)).toEqual(['Second', 'Reply']);
  await expect(parts.services.latestInteractions(parts.session('ann'), {})).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('concerns the author of the comment it replies to, and the mentioned members who may see the action', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, service } = parts;
  await services.upsertMembers(service, [
    { memberId: 'ann', name: 'Ann', teamId: 't1' },
    { memberId: 'bob', name: 'Bob', teamId: 't1' },
    { memberId: 'cid', name: 'Cid', teamId: 't2' },
  ]);
  await services.follow(parts.session('cid'), 'site', 0);
  const site = { id: 'site', type: 'site', label: 'Site' };
  const team = (await parts.publish({ actorId: 'ann', scope: 'TEAM' })).action.id;
  const followers = (await parts.publish({ actorId: 'ann', scope: 'FOLLOWERS', refs: [site] })).action.id;
  const comment = async (actionId: string, userId: string, more: object): Promise<string> => {
    const input = { actionId, kind: 'COMMENT', text: 'So it is', ...more };
    return (await services.addInteraction(parts.session(userId), input)).interaction.id;
  };
  const concerned = async (id: string): Promise<unknown> => {
    const found = await parts.database.collections.interactions.findOne({ _id: new ObjectId(id) });
    return { mentions: found?.mentions ?? [], to: found?.to ?? [] };
  };
  const first = await comment(team, 'bob', { mentions: ['ann', 'bob', 'cid', 'nobody', 'ann'] });
  expect(await concerned(first)).toEqual({ mentions: ['ann'], to: ['ann'] });
  const reply = await comment(team, 'ann', { parentId: first, mentions: ['cid'] });
  expect(await concerned(reply)).toEqual({ mentions: [], to: ['bob'] });
  let byFollower = '';
  const more = await commandsOf(parts.database, async () => {
    byFollower = await comment(followers, 'ann', { mentions: ['cid', 'dan'] });
  });
  expect(await concerned(byFollower)).toEqual({ mentions: ['cid'], to: ['cid'] });
  const none = await commandsOf(parts.database, () => comment(followers, 'ann', {}));
  // Blocks of the mentioned members, the follows of those of whom that decides, and where the thread stands for them.
  expect(more.length).toBe(none.length + 3);
  const many = Array.from({ length: 21 }, (_, n) => `m${String(n)}`);
  await expect(comment(team, 'ann', { mentions: many })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  await expect(
    services.addInteraction(parts.session('ann'), { actionId: team, kind: 'LIKE', mentions: ['bob'] }),
  ).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});
