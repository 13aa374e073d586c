import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { encodeRow } from '../../../src/domain/cursor.ts';
import { actorsOf, countActors } from '../../../parts/notifications/src/read-notifications.ts';
import type { NotificationFilterInput } from '../../../parts/notifications/src/filter.ts';
import type { Notification } from '../../../parts/notifications/src/groups.ts';
import { notificationParts } from '../../../parts/notifications/src/api/summaries.ts';
import { INTERACTION_KINDS } from '../../../src/domain/relevancy.ts';
import { Ending } from '../../../src/lib/closer.ts';
import { Bell, listOf } from '../../support/bell.ts';
import { commandsOf, documentsRead } from '../../support/commands.ts';
import { commentTo, type CommentTo } from '../../support/comments-to.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

async function namesOf(parts: Parts, work: () => Promise<unknown>): Promise<string[]> {
  const commands = await commandsOf(parts.database, work);
  return commands.map(({ name, collection }) => `${name} ${collection}`);
}

const PAGE = ['aggregate directoryStamps'];
/** Of an action there is more than is read at once. */
const LONG_PAGE = [...PAGE, 'aggregate interactions'];

/** Interactions by as many members, without their effects on feeds. */
async function interactedBy(
  parts: Parts,
  actionId: string,
  kind: 'LIKE' | 'COMMENT',
  count: number,
  timeOf = (n: number): number => Date.now() - 60_000 + n,
): Promise<void> {
  await parts.database.collections.interactions.insertMany(
    Array.from({ length: count }, (_, n) => ({
      ...{ _id: new ObjectId(), actionId: new ObjectId(actionId), key: `${kind}-${String(n)}`, kind },
      ...{ actorId: `m${String(n)}`, departmentIds: [] },
      ...{ at: new Date(timeOf(n)), shownAt: new Date(timeOf(n)) },
      ...{ ownerId: 'ann' },
    })),
  );
}

test('a page with its counts takes at most two commands, however many interactions there are', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session } = parts;
  const ids: string[] = [];
  for (let n = 0; n < 30; n += 1)
    ids.push((await parts.publish({ actorId: 'ann', scope: 'PUBLIC' })).action.id);
  const mention = (await parts.publish({ actorId: 'bob', scope: 'PUBLIC', mentions: ['ann'] })).action.id;
  for (const actionId of ids)
    await services.addInteraction(session('bob'), { actionId, kind: 'COMMENT', text: 'Well done' });
  const said = await services.addInteraction(session('ann'), {
    actionId: mention,
    kind: 'COMMENT',
    text: 'Me?',
  });
  await services.addInteraction(session('cid'), {
    ...{ actionId: mention, kind: 'COMMENT', text: 'You', parentId: said.interaction.id },
  });
  await services.follow(session('dan'), 'ann', 0);
  const read = async (after?: string | null, first = 25) => {
    const page = await services.readNotifications(session('ann'), { first, after, withCounts: true });
    return { page, unseen: await page.countUnseen(), unread: await page.countUnread() };
  };
  let first = await read();
  // Now the actions are cached.
  expect(await namesOf(parts, async () => (first = await read()))).toEqual(PAGE);
  expect(first.page.edges.slice(0, 3).map(({ node }) => node.group.kind)).toEqual([
    'FOLLOW',
    'REPLY',
    'COMMENT',
  ]);
  expect([first.unseen, first.unread]).toEqual([
    { count: 33, isExact: true },
    { count: 33, isExact: true },
  ]);
  expect(await namesOf(parts, () => read(first.page.end))).toEqual(PAGE);
  for (const actionId of ids) await interactedBy(parts, actionId, 'LIKE', 200);
  // The others do not say so yet.
  const { actions } = parts.database.collections;
  await actions.updateOne(
    { _id: new ObjectId(ids[0]) },
    { $set: { 'engagement.likes': 200 }, $inc: { rev: 1 } },
  );
  const all: Notification[] = [];
  expect(
    await namesOf(parts, async () => all.push(...(await read(null, 100)).page.edges.map(({ node }) => node))),
  ).toEqual(LONG_PAGE);
  expect(await namesOf(parts, () => read())).toEqual(LONG_PAGE);
  // While nothing changes, the first command says so.
  expect(await namesOf(parts, () => read())).toEqual(PAGE);
  const liked = all.filter(({ group }) => group.kind === 'LIKE');
  expect(liked.map(({ group }) => group.events.length)).toEqual(ids.map(() => 101));
});

test('changes a long list at once that the process has kept', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session } = parts;
  const commented = (await parts.publish({ actorId: 'ann', scope: 'PUBLIC' })).action.id;
  const comment = (userId: string) =>
    services.addInteraction(session(userId), { actionId: commented, kind: 'COMMENT', text: 'So' });
  const said: string[] = [];
  for (const by of ['bob', 'bob', 'cid', 'dan', 'eve']) said.push((await comment(by)).interaction.id);
  const liked = (await parts.publish({ actorId: 'ann', scope: 'PUBLIC' })).action.id;
  await services.addInteraction(session('bob'), { actionId: liked, kind: 'LIKE' });
  const now = Date.now();
  await interactedBy(parts, liked, 'LIKE', 300, () => now);
  const read = async () => {
    const page = await services.readNotifications(session('ann'), { withCounts: true });
    const of = page.edges.map(({ node: { group } }) => [group.kind, group.events.length]);
    return [...of, (await page.countUnseen()).count];
  };
  const versions = async () =>
    (await services.readNotifications(session('ann'), {})).edges.map(({ node }) => node.version);
  const likes = ['LIKE', 101];
  expect(await read()).toEqual([likes, ['COMMENT', 5], 2]);
  expect(await namesOf(parts, read)).toEqual(PAGE);
  const before = await versions();
  await services.removeInteraction(session('bob'), { id: said[0] ?? '' });
  const [, again] = await commandsOf(parts.database, async () =>
    expect(await read()).toEqual([likes, ['COMMENT', 4], 2]),
  );
  // Of what has not changed nothing is read again.
  const pairs = JSON.stringify((again?.command['pipeline'] as unknown[]).slice(0, -1));
  expect([pairs.includes(commented), pairs.includes(liked)]).toEqual([true, false]);
  expect((await versions()).map((version, index) => version === before[index])).toEqual([true, false]);
  await services.hideInteraction(session('mod', 'admin'), said[2] ?? '', null);
  expect(await read()).toEqual([likes, ['COMMENT', 3], 2]);
  await services.addMute(session('ann'), { memberId: 'dan' }, null);
  expect(await read()).toEqual([likes, ['COMMENT', 2], 2]);
  // Kept for whom the reader keeps away.
  expect(await namesOf(parts, read)).toEqual(PAGE);
  await services.removeMute(session('ann'), { memberId: 'dan' });
  expect(await read()).toEqual([likes, ['COMMENT', 3], 2]);
  await services.blockMember(session('eve'), 'ann');
  expect(await read()).toEqual([likes, ['COMMENT', 2], 2]);
  // The blocks are known until they change.
  expect(await namesOf(parts, read)).toEqual(PAGE);
  await services.unblockMember(session('eve'), 'ann');
  expect(await read()).toEqual([likes, ['COMMENT', 3], 2]);
  await services.blockMember(session('dan'), 'ann');
  expect(await read()).toEqual([likes, ['COMMENT', 2], 2]);
  await services.markNotificationsSeen(session('ann'), new Date());
  await services.deleteAction(session('ann'), commented);
  expect(await read()).toEqual([likes, 0]);
});

test('a forged cursor reads no more at once than a deep page', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session } = parts;
  const key = `LIKE:${new ObjectId().toHexString()}`;
  const after = encodeRow('notifications:ann', [new Date(), 0xffff_ffff, key]);
  const [read] = await commandsOf(parts.database, () =>
    services.readNotifications(session('ann'), { after }),
  );
  const limits = [...JSON.stringify(read?.command).matchAll(/"\$limit":(\d+)/gu)].map(([, n]) => Number(n));
  expect(Math.max(...limits)).toBe(2_000);
});

test('20 mentions take the read of blocks, and in a comment one write', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session } = parts;
  const publish = (mentions: readonly string[]) => () =>
    services.publishAction(parts.service, {
      ...{ actorId: 'ann', scope: 'PUBLIC' as const, mentions },
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
    });
  const twenty = Array.from({ length: 20 }, (_, n) => `m${String(n)}`);
  const plain = await namesOf(parts, publish([]));
  expect(await namesOf(parts, publish(twenty))).toEqual(['find blocks', ...plain]);
  const { action } = await publish([])();
  const comment = (mentions: readonly string[]) => () =>
    services.addInteraction(session('bob'), { actionId: action.id, kind: 'COMMENT', text: 'So', mentions });
  await comment([])();
  // The blocks of those it mentions, and one for all whom a comment concerns besides the owner of the action.
  const without = await namesOf(parts, comment([]));
  expect(without).not.toContain('find blocks');
  expect((await namesOf(parts, comment(twenty))).sort()).toEqual(
    [...without, 'find blocks', 'update threads'].sort(),
  );
});

test('a watcher reads nothing for entries of the feed: whom an action names is signalled', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session, core } = parts;
  const entry = (await parts.publish({ actorId: 'bob', scope: 'PUBLIC' })).action.id;
  const liked = (await parts.publish({ actorId: 'ann', scope: 'PUBLIC' })).action.id;
  const ending = new Ending();
  const events = await services.watchNotifications(session('ann').identity, {
    ...{ withCounts: true, signal: ending },
  });
  const next = events[Symbol.asyncIterator]();
  await next.next();
  const ofFeed = { kind: 'added', actionId: entry, relevancy: new Date(), reasons: ['FOLLOW'] } as const;
  // As many as are decided together, so that the like is decided after them.
  await core.liveLog.append(Array.from({ length: 100 }, () => ({ userId: 'ann', event: ofFeed })));
  await services.addInteraction(session('bob'), { actionId: liked, kind: 'LIKE' });
  let shown: unknown;
  const names = await namesOf(parts, async () => (shown = await next.next()));
  expect(shown).toMatchObject({ value: { kind: 'added', notification: { group: { kind: 'LIKE' } } } });
  expect(names).toEqual(['aggregate directoryStamps', 'find actions']);
  ending.abort();
});

test('a watcher counts at most four times a second, however much happens, and shows the last state', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session, core } = parts;
  const { action } = await parts.publish({ actorId: 'ann', scope: 'PUBLIC' });
  const like = (userId: string): Promise<unknown> =>
    services.addInteraction(session(userId), { actionId: action.id, kind: 'LIKE' });
  await like('bob');
  await using bell = await new Bell(parts, 'ann', null).open();
  const shown = (): number => bell.kinds.filter((kind) => kind === 'added' || kind === 'updated').length;
  const event = { kind: 'notification', of: action.id, kinds: ['LIKE'] } as const;
  const from = performance.now();
  const names = await namesOf(parts, async () => {
    for (let n = 1; n <= 100; n += 1) {
      await core.liveLog.append([{ userId: 'ann', event }]);
      // Each is decided alone.
      await expect.poll(shown, { timeout: PATIENCE_MS, interval: 1 }).toBe(n);
    }
  });
  const seconds = Math.ceil((performance.now() - from) / 1_000);
  const times = (name: string): number => names.filter((one) => one === name).length;
  // Both read the list, and what is decided is also looked up by its action.
  const counts = times('aggregate directoryStamps') - times('find actions');
  expect(counts).toBeGreaterThan(0);
  expect(counts).toBeLessThanOrEqual(1 + 4 * seconds);
  await like('cid');
  await services.markNotificationsRead(session('ann'), { upTo: new Date(), keys: [] });
  await like('dan');
  await expect
    .poll(async () => [bell.shown, await listOf(parts, 'ann')], { timeout: PATIENCE_MS })
    .toSatisfy(([now, fresh]) => JSON.stringify(now) === JSON.stringify(fresh));
});

test('counts the members who did something exactly up to 100, also if one did it many times', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session, core } = parts;
  const { action } = await parts.publish({ actorId: 'ann', scope: 'PUBLIC' });
  const comment = (userId: string, n: number) =>
    services.addInteraction(session(userId), { actionId: action.id, kind: 'COMMENT', text: String(n) });
  for (let n = 0; n < 3; n += 1) await comment(`b${String(n)}`, n);
  for (let n = 0; n < 110; n += 1) await comment('bob', n);
  const ann = session('ann');
  const page = await services.readNotifications(ann, {});
  const [one] = page.edges.map(({ node }) => node);
  if (one === undefined) throw new Error('There is none');
  expect(page.edges.length).toBe(1);
  expect(actorsOf(one)).toEqual(['bob']);
  // A sentence names those that were read; a command for each would be a page of commands.
  const sentence = async (): Promise<string> =>
    (await notificationParts(ann, one, 'en')).map(({ text }) => text).join('');
  expect(await namesOf(parts, sentence)).toEqual(['find directoryStamps', 'find members']);
  expect(await sentence()).toBe('bob commented on your post');
  expect(await countActors(core, ann, one)).toEqual({ count: 4, isExact: true });
  // Of members who are muted others take the place.
  await services.addMute(ann, { memberId: 'bob' }, null);
  const [rest] = (await services.readNotifications(session('ann'), {})).edges.map(({ node }) => node);
  expect(rest === undefined ? null : actorsOf(rest)).toEqual(['b2', 'b1', 'b0']);
});

test('lists what happened on other days and behind many followers', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const { follows } = parts.database.collections;
  const now = Date.now();
  const opened = (n: number): Date => new Date(now - Math.floor(n / 300) * 86_400_000 - 1);
  await follows.insertMany(
    Array.from({ length: 900 }, (_, n) => ({
      ...{ _id: new ObjectId(), followerId: `f${String(n)}`, refId: 'ann', active: true },
      ...{ spans: [{ since: opened(n) }], openedAt: opened(n) },
    })),
  );
  const { edges } = await services.readNotifications(session('ann'), {});
  expect(edges.map(({ node: { group } }) => [group.kind, group.events.length])).toEqual([
    ['FOLLOW', 101],
    ['FOLLOW', 101],
    ['FOLLOW', 101],
  ]);
});

/** The latest at this time, 500 in each millisecond. */
const comments = (actionId: string, of: CommentTo['of'], count: number, until: number): CommentTo[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{ actionId, of, actorId: `m${String(n % 50)}`, at: new Date(until - Math.floor(n / 500)) },
  }));

test('a page reads no more of a thread with very many comments to the reader than it counts', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session } = parts;
  const publish = async (): Promise<string> =>
    (await parts.publish({ actorId: 'bob', scope: 'PUBLIC' })).action.id;
  const quiet: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const actionId = await publish();
    quiet.push(actionId);
    const said = await services.addInteraction(session('ann'), { actionId, kind: 'COMMENT', text: 'Me' });
    await services.addInteraction(session('bob'), {
      ...{ actionId, kind: 'COMMENT', text: 'You', parentId: said.interaction.id },
    });
    await services.addInteraction(session('bob'), {
      ...{ actionId, kind: 'COMMENT', text: 'You again', mentions: ['ann'] },
    });
  }
  const hot = await publish();
  const now = Date.now();
  await commentTo(parts, 'ann', [
    ...comments(hot, 'replies', 3, now - 600_000),
    ...comments(hot, 'mentions', 6_000, now),
  ]);
  const read = async () => {
    const page = await services.readNotifications(session('ann'), { first: 25, withCounts: true });
    const groups = page.edges.map(({ node: { group } }) => group);
    return { groups, counts: [await page.countUnseen(), await page.countUnread()] };
  };
  let found = await read();
  const commands = await commandsOf(parts.database, async () => (found = await read()));
  expect(found.groups.map(({ kind, actionId, events }) => [kind, actionId, events.length])).toEqual([
    ['MENTION', hot, 101],
    ...quiet.toReversed().flatMap((actionId) => [
      ['MENTION', actionId, 1],
      ['REPLY', actionId, 1],
    ]),
    ['REPLY', hot, 3],
  ]);
  expect(found.counts).toEqual([1, 2].map(() => ({ count: 12, isExact: true })));
  expect(commands.length).toBeLessThanOrEqual(3);
  // The newest of all and of the thread: nothing of what lies between them and the others.
  let documents = 0;
  for (const command of commands) documents += await documentsRead(parts.database, command);
  expect(documents).toBeLessThan(1_000);
});

test('nothing is searched for what a filter or the preferences leave out', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, session } = parts;
  const ids: string[] = [];
  for (let n = 0; n < 60; n += 1)
    ids.push((await parts.publish({ actorId: 'ann', scope: 'PUBLIC' })).action.id);
  for (const actionId of ids) {
    await services.addInteraction(session('bob'), { actionId, kind: 'LIKE' });
    await interactedBy(parts, actionId, 'LIKE', 50);
  }
  const other = (await parts.publish({ actorId: 'bob', scope: 'PUBLIC' })).action.id;
  await commentTo(parts, 'ann', comments(other, 'mentions', 6_000, Date.now()));
  const read = (filter: NotificationFilterInput) => async () => {
    const page = await services.readNotifications(session('ann'), { filter, withCounts: true });
    expect(page.edges).toEqual([]);
    expect([(await page.countUnseen()).count, (await page.countUnread()).count]).toEqual([0, 0]);
  };
  const expectOne = async (filter: NotificationFilterInput): Promise<void> => {
    const commands = await commandsOf(parts.database, read(filter));
    expect(commands.map(({ name, collection }) => `${name} ${collection}`)).toEqual(PAGE);
    const [command] = commands;
    if (command !== undefined) expect(await documentsRead(parts.database, command)).toBeLessThan(1_000);
  };
  await expectOne({ kinds: ['ASSIGNED'] });
  await expectOne({ since: new Date(Date.now() + 60_000) });
  const off = [...INTERACTION_KINDS, 'MENTION', 'REPLY'] as const;
  await services.setNotificationPreferences(
    session('ann'),
    off.map((kind) => ({ kind, type: null, channel: 'IN_APP' as const, isOn: false })),
  );
  await expectOne({});
  await services.setNotificationPreferences(
    session('ann'),
    off.map((kind) => ({ kind, type: null, channel: 'IN_APP' as const, isOn: true })),
  );
  await services.markNotificationsRead(session('ann'), { upTo: new Date(), keys: [] });
  await expectOne({ unreadOnly: true });
});
