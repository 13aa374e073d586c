import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import { letExpire } from '../../support/expire.ts';
import { eventsOf, moveEvents } from '../../support/events.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { endSnoozeAt } from '../../support/snoozes.ts';
import { someModels } from '../../support/some-models.ts';

const HOUR = 3_600_000;
const SNOOZED = { filter: { snoozed: true } };
const SITE = { id: 'site', type: 'site', label: 'Site' };
const ann = (parts: Parts) => parts.session('ann');
const later = (ms = HOUR): Date => new Date(clock.time() + ms);

/** Actions that mention Ann, an hour apart, the oldest first: each stands where it was conducted. */
async function published(parts: Parts, count: number, input: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const conducted = new Date(Date.UTC(2024, 0, 1) + n * HOUR);
    const { action } = await parts.publish({ scope: 'PUBLIC', mentions: ['ann'], conducted, ...input });
    ids.push(action.id);
  }
  await parts.fanOut();
  return ids;
}

async function listed(parts: Parts, args: object = {}): Promise<string[]> {
  const { edges } = await parts.services.readFeed(ann(parts), { first: 100, ...args });
  return edges.map(({ node }) => node.actionId);
}

/** A place between the n-th action and the one after it. */
const above = (n: number): Date => new Date(Date.UTC(2024, 0, 1) + n * HOUR + 1);

test.each(someModels(2))(
  'is out of the feed until then, and has no lower position afterwards, feeds stored by %s',
  async (model) => {
    await using parts = await openParts({ model, cap: 3 });
    const ids = await published(parts, 5);
    const [a = '', b = '', c = '', d = '', e = ''] = ids;
    const { services } = parts;
    const until = later();
    for (const id of [a, e]) {
      await services.snoozeFeedItem(ann(parts), id, until);
      expect(await services.getNewsfeedItem(ann(parts), id)).toMatchObject({
        ...{ actionId: id, state: 'SNOOZED', until },
      });
    }
    expect([await listed(parts), await listed(parts, SNOOZED)]).toEqual([
      [d, c, b],
      [e, a],
    ]);
    await services.markFeedRead(ann(parts), clock.now());
    await services.addInteraction(parts.session('bob'), { actionId: a, kind: 'LIKE' });
    await parts.fanOut();
    expect(await listed(parts)).toEqual([d, c, b]);
    const back = clock.now();
    await endSnoozeAt(parts, 'ann', a, back);
    expect([await listed(parts), await listed(parts, SNOOZED)]).toEqual([[a, d, c, b], [e]]);
    const item = await services.getNewsfeedItem(ann(parts), a);
    expect(item).toMatchObject({ relevancy: back, isUnread: true, until: null });
    expect(await services.countUnread(ann(parts))).toEqual({ count: 1, isExact: true });
    expect((await services.findFirstUnread(ann(parts)))?.item.actionId).toBe(a);
    await endSnoozeAt(parts, 'ann', e, above(1));
    expect(await listed(parts)).toEqual([a, e, d, c, b]);
    for (const first of [1, 2]) expect(await paged(parts, first)).toEqual([a, e, d, c, b]);
    await services.unsnoozeFeedItem(ann(parts), a);
    expect(await listed(parts)).toEqual([a, e, d, c, b]);
  },
);

async function paged(parts: Parts, first: number): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<Parts['services']['readFeed']>> = await parts.services.readFeed(
      ann(parts),
      { first, after },
    );
    ids.push(...page.edges.map(({ node }) => node.actionId));
    if (!page.hasMore) return ids;
    after = page.end;
  }
}

test("undoing it restores the item's position, and an item that has come back keeps its own", async () => {
  await using parts = await openParts();
  const [a = '', b = '', c = ''] = await published(parts, 3);
  await parts.services.snoozeFeedItem(ann(parts), a, later());
  await parts.services.unsnoozeFeedItem(ann(parts), a);
  expect(await parts.services.getNewsfeedItem(ann(parts), a)).toMatchObject({ state: null, until: null });
  expect(await listed(parts)).toEqual([c, b, a]);
  await parts.services.snoozeFeedItem(ann(parts), a, later());
  await endSnoozeAt(parts, 'ann', a, above(1));
  await parts.services.unsnoozeFeedItem(ann(parts), a);
  expect(await listed(parts)).toEqual([c, a, b]);
  await parts.services.snoozeFeedItem(ann(parts), a, later());
  await parts.services.unsnoozeFeedItem(ann(parts), a);
  expect(await listed(parts)).toEqual([c, b, a]);
});

test('hidden, archived and snoozed are one state: setting one replaces the others', async () => {
  await using parts = await openParts();
  const [a = '', b = ''] = await published(parts, 2);
  const { services } = parts;
  const lists = async (): Promise<string[][]> => [
    (await services.readHiddenItems(ann(parts), {})).edges.map(({ node }) => node.id),
    await listed(parts, { filter: { archived: true } }),
    await listed(parts, SNOOZED),
    await listed(parts),
  ];
  await services.hideFeedItem(ann(parts), a);
  await services.snoozeFeedItem(ann(parts), a, later());
  expect(await lists()).toEqual([[], [], [a], [b]]);
  await services.unhideFeedItem(ann(parts), a);
  await services.archiveFeedItem(ann(parts), a);
  expect(await lists()).toEqual([[], [a], [], [b]]);
  await services.unsnoozeFeedItem(ann(parts), a);
  expect(await lists()).toEqual([[], [a], [], [b]]);
  await services.snoozeFeedItem(ann(parts), a, later());
  await endSnoozeAt(parts, 'ann', a, above(2));
  expect(await lists()).toEqual([[], [], [], [a, b]]);
  await services.archiveFeedItem(ann(parts), a);
  expect(await lists()).toEqual([[], [a], [], [b]]);
  await services.unarchiveFeedItem(ann(parts), a);
  expect(await lists()).toEqual([[], [], [], [b, a]]);
});

test('must end later than now and within a year', async () => {
  await using parts = await openParts();
  const [a = ''] = await published(parts, 1);
  for (const [until, message] of [
    [clock.now(), 'Must be later than now'],
    [new Date(0), 'Must be later than now'],
    [later(367 * 24 * HOUR), 'Must be at most a year from now'],
  ] as const)
    await expect(parts.services.snoozeFeedItem(ann(parts), a, until)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: ['until'], message }],
    });
  expect(await parts.database.collections.itemMarks.countDocuments()).toBe(0);
  await parts.services.snoozeFeedItem(ann(parts), a, later(365 * 24 * HOUR));
  await expect(
    parts.services.readFeed(ann(parts), { filter: { archived: true, snoozed: true } }),
  ).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('snoozes at most five hundred items; items that came back do not count, and the oldest of them loses its position', async () => {
  await using parts = await openParts();
  const [a = '', b = '', c = ''] = await published(parts, 3);
  const { itemMarks } = parts.database.collections;
  const insert = (count: number, from: Date) =>
    itemMarks.insertMany(
      Array.from({ length: count }, (_, n) => ({
        _id: { userId: 'ann', actionId: new ObjectId() },
        ...{ state: 'SNOOZED' as const, at: from, until: new Date(from.getTime() + n) },
      })),
    );
  await insert(499, later());
  await parts.services.snoozeFeedItem(ann(parts), a, later());
  await expect(parts.services.snoozeFeedItem(ann(parts), b, later())).rejects.toMatchObject({
    code: 'CONFLICT',
  });
  await parts.services.snoozeFeedItem(ann(parts), a, later());
  await itemMarks.updateMany({ '_id.actionId': { $ne: new ObjectId(a) } }, { $set: { until: above(10) } });
  await parts.services.snoozeFeedItem(ann(parts), b, later());
  await endSnoozeAt(parts, 'ann', a, above(2));
  await endSnoozeAt(parts, 'ann', b, above(20));
  // The five hundredth is among those that came back last, the one before it is not.
  expect(await listed(parts)).toEqual([b, c, a]);
  await itemMarks.updateMany({ lifting: { $exists: true } }, { $unset: { lifting: 1 } });
  await parts.services.snoozeFeedItem(ann(parts), c, later());
  expect(await itemMarks.countDocuments({ until: { $lte: clock.now() } })).toBe(500);
  expect(await itemMarks.findOne({ '_id.actionId': new ObjectId(a) })).toEqual({
    _id: { userId: 'ann', actionId: new ObjectId(a) },
  });
});

test('an item that left the feed meanwhile does not come back', async () => {
  await using parts = await openParts();
  const { services } = parts;
  await services.follow(ann(parts), 'site', 0);
  const post = { descriptor: { posted: { postId: 'p', text: 'A post' } } };
  const ids = await published(parts, 6, { mentions: [], refs: [SITE], ...post });
  const [deleted = '', hidden = '', edited = '', expired = '', muted = '', kept = ''] = ids;
  for (const id of ids) await services.snoozeFeedItem(ann(parts), id, later());
  const admin = parts.session('root', 'admin');
  await services.deleteAction(admin, deleted);
  await services.hideAction(admin, hidden, null);
  await services.updateAction(admin, edited, { scope: 'RESTRICTED', recipients: ['bob'] });
  await letExpire(parts, expired);
  await services.addMute(ann(parts), { memberId: 'actor' });
  // The worker is still to come.
  for (const [n, id] of ids.entries()) await endSnoozeAt(parts, 'ann', id, above(10 + n));
  const everywhere = async (): Promise<unknown> => {
    const page = await services.readFeed(ann(parts), { withUnread: true });
    const groups = await services.readFeedGroups(ann(parts), {});
    const items = await Promise.all(ids.map((id) => services.getNewsfeedItem(ann(parts), id)));
    return {
      page: page.edges.map(({ node }) => node.actionId),
      total: (await page.countTotal()).count,
      unread: (await page.countUnread()).count,
      groups: (await groups.countTotal()).count,
      items: items.flatMap((item) => (item === null ? [] : [item.actionId])),
    };
  };
  expect(await everywhere()).toEqual({ page: [], total: 0, unread: 0, groups: 0, items: [] });
  await services.removeMute(ann(parts), { memberId: 'actor' });
  const shown = [kept, muted];
  expect(await everywhere()).toEqual({
    ...{ page: shown, total: 2, unread: 2, groups: 2, items: [muted, kept] },
  });
  await services.unfollow(ann(parts), 'site', false);
  expect(await everywhere()).toEqual({ page: [], total: 0, unread: 0, groups: 0, items: [] });
  await parts.fanOut();
  expect(await parts.database.collections.itemMarks.countDocuments()).toBe(5);
});

test('a group has the position where an item of it came back, however many it has', async () => {
  await using parts = await openParts();
  const day = Date.UTC(2024, 0, 1);
  const like = (objectId: string, minute: number) => ({
    ...{ actorId: 'actor', scope: 'PUBLIC', mentions: ['ann'] },
    ...{
      conducted: new Date(day + minute * 60_000),
      descriptor: { liked: { objectType: 'post', objectId } },
    },
  });
  const big = Array.from({ length: 120 }, (_, n) => like('big', n));
  const outcomes = await parts.services.publishActions(parts.service, [like('small', 500), ...big]);
  const [, lowest = ''] = outcomes.map(({ action }) => action?.id ?? '');
  await parts.fanOut();
  const groups = async (after: string | null = null) => {
    const page = await parts.services.readFeedGroups(ann(parts), { first: 1, after });
    return { ...page, group: page.edges[0]?.node };
  };
  const first = await groups();
  expect(first.group?.relevancy).toEqual(new Date(day + 500 * 60_000));
  await parts.services.snoozeFeedItem(ann(parts), lowest, later());
  await endSnoozeAt(parts, 'ann', lowest, new Date(day + 10 * HOUR));
  const top = await groups();
  expect(top.group).toMatchObject({ relevancy: new Date(day + 10 * HOUR), isUnread: true });
  const items = (await top.group?.load(() => false)) ?? [];
  expect([items.length, items[0]?.actionId]).toEqual([120, lowest]);
  const second = await groups(top.end);
  expect([second.group?.groupKey, second.hasMore]).toEqual([first.group?.groupKey, false]);
  const found = await parts.services.getFeedGroup(ann(parts), top.group?.groupKey ?? '');
  expect(found?.relevancy).toEqual(new Date(day + 10 * HOUR));
});

test('explains that an item is snoozed, and afterwards what raised it', async () => {
  await using parts = await openParts();
  const [a = ''] = await published(parts, 1);
  const why = () => parts.services.explainFeedItem(ann(parts), a, null);
  await parts.services.snoozeFeedItem(ann(parts), a, later());
  expect(await why()).toMatchObject({
    isInFeed: false,
    withheldBy: ['SNOOZED'],
    relevancy: new Date(Date.UTC(2024, 0, 1)),
  });
  const until = above(3);
  await endSnoozeAt(parts, 'ann', a, until);
  expect(await why()).toMatchObject({
    ...{ isInFeed: true, withheldBy: [], relevancy: until, path: 'STORED' },
    causes: [{ kind: 'SNOOZE_ENDED', at: until, liftedTo: until }, { kind: 'CONDUCTED' }],
  });
  const admin = parts.session('root', 'admin');
  expect(await parts.services.explainFeedItem(admin, a, 'ann')).toMatchObject({ relevancy: until });
});

test('readers who snoozed an action are omitted from its delivery event, unless it has come back', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const { action } = await parts.publish({ scope: 'PUBLIC', mentions: ['ann', 'bob', 'cid'] });
  for (const name of ['ann', 'bob'])
    await parts.services.snoozeFeedItem(parts.session(name), action.id, later());
  await endSnoozeAt(parts, 'bob', action.id, clock.now());
  await parts.fanOut();
  await moveEvents(parts.database.collections);
  const notified = (await eventsOf(parts)).flatMap(({ facts }) => facts.readers ?? []);
  expect(notified.map(({ memberId }) => memberId).sort()).toEqual(['bob', 'cid']);
});
