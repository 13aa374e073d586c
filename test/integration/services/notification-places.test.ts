import { afterEach, beforeEach, expect, test } from 'vitest';
import { openParts, type Parts } from '../../support/parts.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let parts: Parts;
let actionId: string;
beforeEach(async () => {
  parts = await openParts();
  actionId = (await parts.publish({ actorId: 'ann', scope: 'PUBLIC' })).action.id;
});
afterEach(async () => parts[Symbol.asyncDispose]());

const ago = (ms: number): Date => new Date(Date.now() - ms);

const comment = async (by: string, at?: Date) =>
  (
    await parts.services.addInteraction(parts.session(by), {
      ...{ actionId, kind: 'COMMENT', text: 'Well done' },
      ...(at === undefined ? {} : { at }),
    })
  ).interaction;

const like = (by: string) => parts.services.addInteraction(parts.session(by), { actionId, kind: 'LIKE' });

async function list(userId = 'ann') {
  const page = await parts.services.readNotifications(parts.session(userId), { first: 25, withCounts: true });
  const { count } = await page.countUnseen();
  const all = page.edges.map(({ node }) => node);
  return {
    unseen: count,
    all: all.map(({ group, isSeen, isRead }) => [group.kind, isSeen, isRead]),
    nodes: all,
  };
}

/** What a client does with the topmost one when the list opens. */
async function openList(userId = 'ann'): Promise<void> {
  const [first] = (await list(userId)).nodes;
  if (first === undefined) throw new Error('The list is empty');
  await parts.services.markNotificationsSeen(parts.session(userId), first.group.at);
}

test('what is recorded later than it happened is unseen, above what was seen before it came', async () => {
  await like('bob');
  await openList();
  await comment('cid', ago(10 * MINUTE_MS));
  expect(await list()).toMatchObject({
    unseen: 1,
    all: [
      ['COMMENT', false, false],
      ['LIKE', true, false],
    ],
  });
  await openList();
  expect((await list()).unseen).toBe(0);
});

test('a mention by an action that was conducted before it was recorded is unseen', async () => {
  await like('bob');
  await openList();
  await parts.publish({ actorId: 'bob', scope: 'PUBLIC', mentions: ['ann'], conducted: ago(2_000) });
  expect(await list()).toMatchObject({
    unseen: 1,
    all: [
      ['MENTION', false, false],
      ['LIKE', true, false],
    ],
  });
});

test('what a moderator shows again is unseen, though the list was opened while it was hidden', async () => {
  const { id } = await comment('bob');
  await parts.services.hideInteraction(parts.session('admin', 'admin'), id, null);
  await like('cid');
  await openList();
  await parts.services.unhideInteraction(parts.session('admin', 'admin'), id);
  expect((await list()).all).toEqual([
    ['COMMENT', false, false],
    ['LIKE', true, false],
  ]);
  const mention = (await parts.publish({ actorId: 'bob', scope: 'PUBLIC', mentions: ['ann'] })).action.id;
  await parts.services.hideAction(parts.session('admin', 'admin'), mention, null);
  await openList();
  await parts.services.unhideAction(parts.session('admin', 'admin'), mention);
  expect((await list()).all[0]).toEqual(['MENTION', false, false]);
});

test('a notification is read up to its newest event when it was marked, whenever that happened', async () => {
  await comment('bob', ago(HOUR_MS));
  const [one] = (await list()).nodes;
  const keys = [one?.group.key ?? ''];
  await parts.services.markNotificationsRead(parts.session('ann'), { upTo: null, keys });
  expect((await list()).all).toEqual([['COMMENT', false, true]]);
  await comment('cid', ago(HOUR_MS / 2));
  expect((await list()).all).toEqual([['COMMENT', false, false]]);
  // What is not there is not remembered.
  await parts.services.markNotificationsRead(parts.session('ann'), {
    upTo: null,
    keys: [`LIKE:${actionId}`],
  });
  await like('bob');
  expect((await list()).all[0]).toEqual(['LIKE', false, false]);
});

test('members record what has just happened, services also history, which is no news', async () => {
  await like('bob');
  await openList();
  const yesterday = ago(25 * HOUR_MS);
  const input = { actionId, kind: 'COMMENT', text: 'Then', actorId: 'cid', at: yesterday } as const;
  for (const [session, at] of [
    [parts.session('cid'), yesterday],
    [parts.session('cid'), new Date('1990-01-01T00:00:00Z')],
  ] as const)
    await expect(parts.services.addInteraction(session, { ...input, at })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['input', 'at'] }],
    });
  expect((await list()).all).toEqual([['LIKE', true, false]]);
  await parts.services.addInteraction(parts.session('importer', 'service'), input);
  expect(await list()).toMatchObject({
    unseen: 0,
    all: [
      ['LIKE', true, false],
      ['COMMENT', true, false],
    ],
  });
});

test('a follow that is taken up again keeps its first time, and is away meanwhile', async () => {
  const bob = parts.session('bob');
  await parts.services.follow(bob, 'ann', 0);
  const [first] = (await list()).nodes;
  await openList();
  await parts.services.unfollow(bob, 'ann', true);
  expect((await list()).all).toEqual([]);
  await parts.services.follow(bob, 'ann', 0);
  const again = await list();
  expect(again.all).toEqual([['FOLLOW', true, false]]);
  expect(again.nodes[0]?.group).toEqual(first?.group);
  // After so long it is news again.
  const { follows } = parts.database.collections;
  await parts.services.unfollow(bob, 'ann', true);
  await follows.updateMany({}, { $set: { openedAt: ago(91 * 24 * HOUR_MS) } });
  await parts.services.follow(bob, 'ann', 0);
  expect((await list()).all).toEqual([['FOLLOW', false, false]]);
});

test('a mention during a block reaches nobody, also when the block has ended', async () => {
  const { services, session } = parts;
  const mention = (by: string) =>
    services.addInteraction(session(by), {
      actionId,
      kind: 'COMMENT',
      text: 'See',
      mentions: ['eve', 'fay'],
    });
  // Of who comments, and of whose action it is.
  for (const [by, other] of [
    ['bob', 'eve'],
    ['eve', 'ann'],
  ] as const) {
    await services.blockMember(session(by), other);
    await mention('bob');
    await services.unblockMember(session(by), other);
    expect((await list('eve')).all).toEqual([]);
  }
  // Of an action, and of an edit.
  const edited = (await parts.publish({ actorId: 'bob', scope: 'PUBLIC' })).action.id;
  for (const [by, other] of [
    ['bob', 'eve'],
    ['eve', 'bob'],
  ] as const) {
    await services.blockMember(session(by), other);
    await parts.publish({ actorId: 'bob', scope: 'PUBLIC', mentions: ['eve'] });
    await services.updateAction(session('bob'), edited, { mentions: ['eve', by] });
    await services.unblockMember(session(by), other);
    expect((await list('eve')).all).toEqual([]);
    // Who is named still is not named again.
    await services.updateAction(session('bob'), edited, { mentions: ['eve'], scope: 'PUBLIC' });
    expect((await list('eve')).all).toEqual([]);
    await services.updateAction(session('bob'), edited, { mentions: [] });
  }
  expect((await list('fay')).all).toHaveLength(1);
  await services.updateAction(session('bob'), edited, { mentions: ['eve'] });
  expect((await list('eve')).all).toEqual([['MENTION', false, false]]);
  await services.updateAction(session('bob'), edited, { mentions: [] });
  await mention('bob');
  expect((await list('eve')).all).toEqual([['MENTION', false, false]]);
});
