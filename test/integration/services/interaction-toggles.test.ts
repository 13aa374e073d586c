import { expect, test } from 'vitest';
import type { Action } from '../../../src/domain/action.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { OWN_INTERACTIONS } from '../../../src/features/interactions/read-interactions.ts';

const DAY = 86_400_000;

async function published(parts: Parts): Promise<Action> {
  const { action } = await parts.publish({
    scope: 'PUBLIC',
    mentions: ['ann'],
    conducted: new Date(Date.now() - 30 * DAY),
  });
  await parts.fanOut();
  return action;
}

/** What everybody is shown now, and what it comes to once passes have counted again. */
async function countsOf(parts: Parts, id: string): Promise<Action['engagement'] | undefined> {
  const [before] = await parts.repositories.actions.findByIds([id]);
  await parts.fanOut();
  const [after] = await parts.repositories.actions.findByIds([id]);
  expect(after?.engagement).toEqual(before?.engagement);
  return after?.engagement;
}

async function relevancyIn(parts: Parts, userId: string, id: string): Promise<Date | undefined> {
  return (await parts.feedStore.find(userId, [id]))[0]?.relevancy;
}

test('a reaction is the same with and without a variation selector', async () => {
  await using parts = await openParts();
  const { id } = await published(parts);
  const bob = parts.session('bob');
  const react = (reaction: string) =>
    parts.services.addInteraction(bob, { actionId: id, kind: 'REACTION', reaction });
  expect(await react('❤')).toMatchObject({ isReplay: false, interaction: { reaction: '❤️' } });
  expect(await react('❤️')).toMatchObject({ isReplay: true });
  expect((await countsOf(parts, id))?.reactions).toEqual([{ reaction: '❤️', count: 1 }]);
  await parts.services.removeInteraction(bob, { own: { actionId: id, kind: 'REACTION', reaction: '❤' } });
  expect((await countsOf(parts, id))?.reactions).toEqual([]);
});

test.each(['LIKE', 'RESHARE', 'REACTION'] as const)(
  'a %s that is removed and given again is the same, with its first time, and bumps once',
  async (kind) => {
    await using parts = await openParts();
    const { id } = await published(parts);
    const at = new Date(Date.now() - 10 * DAY);
    const reaction = kind === 'REACTION' ? '🎉' : null;
    const give = (time?: Date) =>
      parts.services.addInteraction(parts.session('bob', 'admin'), {
        ...{ actionId: id, kind, reaction, at: time },
      });
    const takeBack = () =>
      parts.services.removeInteraction(parts.session('bob'), { own: { actionId: id, kind, reaction } });
    const first = await give(at);
    expect(first).toMatchObject({ isReplay: false, interaction: { at, state: 'VISIBLE' } });
    const given = await countsOf(parts, id);
    expect(given?.lastInteraction).toEqual(at);
    const bumped = await relevancyIn(parts, 'ann', id);
    expect(bumped).toEqual(at);

    expect(await give()).toMatchObject({ isReplay: true, interaction: { id: first.interaction.id, at } });
    expect(await takeBack()).toMatchObject({ isReplay: false, interaction: { state: 'REMOVED' } });
    expect(await takeBack()).toMatchObject({ isReplay: true, interaction: { state: 'REMOVED' } });
    expect(await countsOf(parts, id)).toEqual({
      ...{ comments: 0, likes: 0, reshares: 0, reactions: [], lastInteraction: null },
    });
    expect(await relevancyIn(parts, 'ann', id)).toEqual(bumped);

    expect(await give()).toMatchObject({
      isReplay: false,
      interaction: { id: first.interaction.id, at, state: 'VISIBLE' },
    });
    expect(await countsOf(parts, id)).toEqual(given);
    expect(await relevancyIn(parts, 'ann', id)).toEqual(bumped);
    expect(await parts.database.collections.interactions.countDocuments()).toBe(1);
  },
);

test('a repeated key changes nothing after its interaction was removed, another key gives it again', async () => {
  await using parts = await openParts();
  const { id } = await published(parts);
  const bob = () => parts.session('bob');
  for (const kind of ['LIKE', 'COMMENT'] as const) {
    const give = (idempotencyKey: string) =>
      parts.services.addInteraction(bob(), { actionId: id, kind, idempotencyKey });
    const count = async () => {
      const { likes, comments } = (await countsOf(parts, id)) ?? {};
      return kind === 'LIKE' ? likes : comments;
    };
    await give('k1');
    await parts.services.removeInteraction(bob(), { own: { actionId: id, kind } });
    expect(await give('k1')).toMatchObject({ isReplay: true, interaction: { state: 'REMOVED' } });
    expect(await count()).toBe(0);
    expect(await give('k2')).toMatchObject({ isReplay: false, interaction: { state: 'VISIBLE' } });
    expect(await count()).toBe(1);
    // The key of what was there already counts as used too.
    expect(await give(kind === 'LIKE' ? 'k3' : 'k2')).toMatchObject({ isReplay: true });
    await parts.services.removeInteraction(bob(), { own: { actionId: id, kind } });
    expect(await give(kind === 'LIKE' ? 'k3' : 'k2')).toMatchObject({ isReplay: true });
    expect(await count()).toBe(0);
  }
});

test('an idempotency key is never confused with a kind or a reaction', async () => {
  await using parts = await openParts();
  const { id } = await published(parts);
  const bob = () => parts.session('bob');
  for (const key of ['LIKE', 'RESHARE', 'REACTION', '["bob","LIKE"]'])
    await parts.services.addInteraction(bob(), { actionId: id, kind: 'COMMENT', idempotencyKey: key });
  await parts.services.addInteraction(bob(), { actionId: id, kind: 'LIKE' });
  await parts.services.addInteraction(bob(), { actionId: id, kind: 'RESHARE', idempotencyKey: 'LIKE' });
  expect(await countsOf(parts, id)).toMatchObject({ comments: 4, likes: 1, reshares: 1 });
});

test('counts each reaction once per member, the most frequent first', async () => {
  await using parts = await openParts();
  const { id } = await published(parts);
  const react = (userId: string, reaction: string) =>
    parts.services.addInteraction(parts.session(userId), { actionId: id, kind: 'REACTION', reaction });
  for (const [userId, reaction] of [
    ['ann', '👍'],
    ['ann', '🎉'],
    ['bob', '🎉'],
    ['bob', '🎉'],
    ['cid', '❤️'],
  ] as const)
    await react(userId, reaction);
  expect((await countsOf(parts, id))?.reactions).toEqual([
    { reaction: '🎉', count: 2 },
    { reaction: '❤️', count: 1 },
    { reaction: '👍', count: 1 },
  ]);
  const own = await parts.session('ann').load(OWN_INTERACTIONS, id);
  expect(own?.reactions).toEqual(['🎉', '👍']);
  await parts.services.removeInteraction(parts.session('ann'), { own: { actionId: id, kind: 'REACTION' } });
  expect((await countsOf(parts, id))?.reactions).toEqual([
    { reaction: '❤️', count: 1 },
    { reaction: '🎉', count: 1 },
  ]);
  await expect(react('ann', '🦄')).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('is not counted while hidden by an admin, stays hidden when given again, and can be shown again', async () => {
  await using parts = await openParts();
  const { id } = await published(parts);
  const admin = () => parts.session('admin', 'admin');
  const bob = () => parts.session('bob');
  const like = () => parts.services.addInteraction(bob(), { actionId: id, kind: 'LIKE' });
  const { interaction } = await like();
  await parts.services.hideInteraction(admin(), interaction.id, 'spam');
  await parts.services.hideInteraction(admin(), interaction.id, 'spam');
  expect(await countsOf(parts, id)).toMatchObject({ likes: 0, lastInteraction: null });
  await expect(like()).rejects.toMatchObject({ code: 'CONFLICT' });
  await parts.services.removeInteraction(bob(), { own: { actionId: id, kind: 'LIKE' } });
  await expect(parts.services.unhideInteraction(admin(), interaction.id)).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  await expect(like()).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(await countsOf(parts, id)).toMatchObject({ likes: 0 });
  await parts.services.unhideInteraction(admin(), interaction.id);
  expect(await countsOf(parts, id)).toMatchObject({ likes: 1, lastInteraction: interaction.at });
  const log = await parts.services.readModerationLog(admin(), {});
  expect(log.edges.map(({ node }) => [node.kind, node.interactionId, node.reason])).toEqual([
    ['UNHIDE_INTERACTION', interaction.id, null],
    ['HIDE_INTERACTION', interaction.id, 'spam'],
  ]);
});
