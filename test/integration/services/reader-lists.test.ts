import { expect, test } from 'vitest';
import { countUnreadOfLists } from '../../../src/feed/groups/view-counts.ts';
import { clock } from '../../../src/lib/clock.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { watching } from '../../support/watching.ts';

const ann = (parts: Parts) => parts.session('ann');
const exact = (count: number) => ({ count, isExact: true });

/** What Ann is shown, newest first, as the names of `written`. */
async function shown(parts: Parts, ids: Readonly<Record<string, string>>, asked: object = {}) {
  const { edges } = await parts.services.readFeed(ann(parts), { first: 50, ...asked });
  const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  return edges.map(({ node }) => names.get(node.actionId));
}

/** Ann follows three people and a site. */
async function written(parts: Parts): Promise<Record<string, string>> {
  const pairs = ['bob', 'cid', 'dan', 'site'].map((refId) => ({ followerId: 'ann', refId }));
  await parts.services.followMany(parts.service, pairs);
  const ids: Record<string, string> = {};
  const write = async (name: string, actorId: string, more: object = {}): Promise<void> => {
    const { action } = await parts.publish({ actorId, scope: 'PUBLIC', ...more });
    ids[name] = action.id;
  };
  await write('bob', 'bob');
  await write('cid', 'cid');
  await write('dan on site', 'dan', { refs: [{ id: 'site', type: 'site', label: 'Site' }] });
  await write('eve on site', 'eve', { refs: [{ id: 'site', type: 'site', label: 'Site' }] });
  await write('bob to ann', 'bob', { mentions: ['ann'] });
  await write('passed on', 'fay');
  await parts.services.addInteraction(parts.session('cid'), {
    actionId: ids['passed on'] ?? '',
    kind: 'RESHARE',
  });
  await parts.fanOut();
  return ids;
}

async function makeList(parts: Parts, refIds: readonly string[], isExclusive = false) {
  const list = await parts.services.createList(ann(parts), { name: 'Close', isExclusive });
  if (refIds.length > 0) await parts.services.addToList(ann(parts), list.id, refIds);
  return list.id;
}

test('a list shows what came by what is in it, or whose actor is in it', async () => {
  await using parts = await openParts();
  const ids = await written(parts);
  const people = await makeList(parts, ['bob', 'cid']);
  const site = await makeList(parts, ['site']);
  const nothing = await makeList(parts, []);
  expect(await shown(parts, ids, { listId: people })).toEqual(['passed on', 'bob to ann', 'cid', 'bob']);
  expect(await shown(parts, ids, { listId: site })).toEqual(['eve on site', 'dan on site']);
  expect(await shown(parts, ids, { listId: nothing })).toEqual([]);
  // The feed has all of it.
  expect(await shown(parts, ids)).toHaveLength(6);
  expect(await shown(parts, ids, { listId: people, filter: { actorIds: ['cid'] } })).toEqual(['cid']);
  for (const order of ['RECENT', 'TOP'] as const)
    expect((await shown(parts, ids, { listId: people, order })).toSorted()).toEqual(
      ['passed on', 'bob to ann', 'cid', 'bob'].toSorted(),
    );
  const { edges } = await parts.services.readFeedGroups(ann(parts), { listId: site });
  expect(edges.length).toBeGreaterThan(0);
});

test('an exclusive list is kept out of the feed, its counts, groups and views, but not what mentions the reader', async () => {
  await using parts = await openParts();
  const ids = await written(parts);
  const listId = await makeList(parts, ['bob', 'cid'], true);
  expect(await shown(parts, ids)).toEqual(['bob to ann', 'eve on site', 'dan on site']);
  expect(await shown(parts, ids, { filter: { actorIds: ['bob'] } })).toEqual(['bob to ann']);
  expect(await shown(parts, ids, { listId })).toEqual(['passed on', 'bob to ann', 'cid', 'bob']);
  expect(await parts.services.countUnread(ann(parts))).toEqual(exact(3));
  const page = await parts.services.readFeed(ann(parts), { withUnread: true, withTotal: true });
  expect([await page.countUnread(), await page.countTotal()]).toEqual([exact(3), exact(3)]);
  const groups = await parts.services.readFeedGroups(ann(parts), { withUnread: true });
  expect(await groups.countUnread()).toEqual(exact(groups.edges.length));
  const counts = await countUnreadOfLists(parts.core, ann(parts), [listId]);
  expect([...counts.values()]).toEqual([exact(4)]);
  // What one has put away is where one put it, whatever list it is of.
  await parts.services.setItemState(ann(parts), ids['cid'] ?? '', 'ARCHIVED');
  expect(await shown(parts, ids, { filter: { archived: true } })).toEqual(['cid']);
  expect(await shown(parts, ids, { listId })).toEqual(['passed on', 'bob to ann', 'bob']);
  expect(await shown(parts, ids, { listId, filter: { archived: true } })).toEqual(['cid']);
  await parts.services.updateList(ann(parts), listId, { isExclusive: false });
  expect(await shown(parts, ids)).toEqual(['passed on', 'bob to ann', 'eve on site', 'dan on site', 'bob']);
});

test('a list contains what is followed; what is followed again has left it', async () => {
  await using parts = await openParts();
  const ids = await written(parts);
  const listId = await makeList(parts, ['bob', 'cid']);
  const entries = async (more: object = {}) => {
    const { edges } = await parts.services.following(ann(parts), { first: 10, ...more }, listId);
    return edges.map(({ node }) => node.refId);
  };
  const add = (...refIds: readonly string[]) => parts.services.addToList(ann(parts), listId, refIds);
  await expect(add('dan', 'nobody', 'eve')).rejects.toMatchObject({
    code: 'CONFLICT',
    message: 'A list contains what one follows; not followed: "nobody", "eve"',
  });
  expect(await entries()).toEqual(['bob', 'cid']);
  expect(await entries({ first: undefined, last: 1 })).toEqual(['cid']);
  await parts.services.unfollow(ann(parts), 'bob', true);
  expect(await entries()).toEqual(['cid']);
  // What came by a follow that is over is in no list.
  expect(await shown(parts, ids, { listId })).toEqual(['passed on', 'cid']);
  await parts.services.follow(ann(parts), 'bob', 0, null);
  expect(await entries()).toEqual(['cid']);
  await add('bob');
  await parts.services.removeFromList(ann(parts), listId, ['cid', 'unknown']);
  expect(await entries()).toEqual(['bob']);
  await parts.services.deleteList(ann(parts), listId);
  await parts.services.deleteList(ann(parts), listId);
  await expect(shown(parts, ids, { listId })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(add('bob')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect((await ann(parts).profile()).lists).toEqual([]);
  const followed = await parts.services.following(ann(parts), { first: 10 });
  expect(followed.edges.map(({ node }) => node.refId)).toEqual(['bob', 'cid', 'dan', 'site']);
});

test('who is blocked puts who blocks them into a list as anybody else', async () => {
  await using parts = await openParts();
  await written(parts);
  await parts.services.blockMember(parts.session('gus'), 'ann');
  await parts.services.follow(ann(parts), 'gus', 0, null);
  const listId = await makeList(parts, ['bob', 'gus']);
  const entries = async () =>
    (await parts.services.following(ann(parts), { first: 10 }, listId)).edges.map(({ node }) => node.refId);
  expect(await entries()).toEqual(['bob', 'gus']);
  await parts.services.unfollow(ann(parts), 'gus', true);
  expect(await entries()).toEqual(['bob']);
  await parts.services.follow(ann(parts), 'gus', 0, null);
  expect(await entries()).toEqual(['bob']);
});

test('lists and what is in them are limited, also when several calls come at once', async () => {
  await using parts = await openParts();
  const refIds = Array.from({ length: 1_050 }, (_, n) => `ref-${String(n).padStart(4, '0')}`);
  for (let from = 0; from < refIds.length; from += 1_000)
    await parts.services.followMany(
      parts.service,
      refIds.slice(from, from + 1_000).map((refId) => ({ followerId: 'ann', refId })),
    );
  const listId = await makeList(parts, []);
  for (let from = 0; from < 1_000; from += 100)
    await parts.services.addToList(ann(parts), listId, refIds.slice(from, from + 100));
  const isRefused = { code: 'CONFLICT', message: 'A list contains at most 1000 refs' };
  // One that is in it already, and one that has no room.
  await expect(
    parts.services.addToList(ann(parts), listId, [refIds[0] ?? '', 'ref-1001']),
  ).rejects.toMatchObject(isRefused);
  const { edges } = await parts.services.following(ann(parts), { last: 1 }, listId);
  expect(edges.map(({ node }) => node.refId)).toEqual(['ref-0999']);
  await parts.services.addToList(ann(parts), listId, [refIds[0] ?? '']);
  const made = await Promise.allSettled(
    Array.from({ length: 103 }, (_, n) =>
      parts.services.createList(ann(parts), { name: `List ${String(n)}`, isExclusive: false }),
    ),
  );
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(99);
  for (const name of ['', 'x'.repeat(101), 'a\nb'])
    await expect(parts.services.createList(ann(parts), { name, isExclusive: false })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
});

test('watchers of the feed and of lists are sent what enters and leaves them', async () => {
  await using parts = await openParts();
  const ids = await written(parts);
  const listId = await makeList(parts, ['bob'], true);
  const identity = ann(parts).identity;
  await using ofFeed = await watching(parts.services, identity, {});
  await using ofList = await watching(parts.services, identity, { listId });
  const { action } = await parts.publish({ actorId: 'cid', scope: 'PUBLIC' });
  const { action: other } = await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
  await parts.fanOut();
  expect(await ofFeed.next()).toMatchObject({ kind: 'added', item: { actionId: action.id } });
  expect(await ofList.next()).toMatchObject({ kind: 'added', item: { actionId: other.id } });
  await parts.services.addToList(ann(parts), listId, ['cid']);
  expect(await ofFeed.next()).toMatchObject({ kind: 'resync', reason: 'list' });
  expect(await ofList.next()).toMatchObject({ kind: 'resync', reason: 'list' });
  expect(await shown(parts, ids, { listId })).toContain('cid');
  await parts.services.deleteList(ann(parts), listId);
  expect(await ofList.next()).toMatchObject({ kind: 'resync', reason: 'list' });
  await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
  await parts.fanOut();
  await expect(ofList.next()).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('an explanation says that an exclusive list has an item, and what is not in a list', async () => {
  await using parts = await openParts();
  const ids = await written(parts);
  const listId = await makeList(parts, ['bob'], true);
  const why = async (name: string, asked: object = {}) => {
    const id = ids[name] ?? '';
    const { isInFeed, leftOutBy, withheldBy } = await parts.services.explainFeedItem(
      ann(parts),
      id,
      null,
      asked,
    );
    return { isInFeed, leftOutBy, withheldBy };
  };
  expect(await why('bob')).toEqual({ isInFeed: false, leftOutBy: [], withheldBy: ['IN_EXCLUSIVE_LIST'] });
  expect(await why('bob to ann')).toEqual({ isInFeed: true, leftOutBy: [], withheldBy: [] });
  expect(await why('bob', { listId })).toEqual({ isInFeed: true, leftOutBy: [], withheldBy: [] });
  expect(await why('cid', { listId })).toEqual({ isInFeed: false, leftOutBy: ['list'], withheldBy: [] });
});

test('counts of all lists take the commands of one, and a reader without lists pays nothing for them', async () => {
  await using parts = await openParts({ monitorCommands: true, cacheBytes: 0 });
  await written(parts);
  const page = () => commandsOf(parts.database, () => parts.services.readFeed(ann(parts), {}));
  await page();
  const without = await page();
  const listIds = [await makeList(parts, ['bob']), await makeList(parts, ['cid', 'site'])];
  expect((await page()).map(({ name, collection }) => [name, collection])).toEqual(
    without.map(({ name, collection }) => [name, collection]),
  );
  const count = (ids: readonly string[]) =>
    commandsOf(parts.database, () => countUnreadOfLists(parts.core, ann(parts), ids));
  expect(await count(listIds)).toHaveLength((await count(listIds.slice(0, 1))).length);
  await parts.services.updateList(ann(parts), listIds[0] ?? '', { isExclusive: true });
  // The follows of what is on the page.
  expect(await page()).toHaveLength(without.length + 1);
});

test('refuses a list beside a view, of somebody else, and cursors of another list', async () => {
  await using parts = await openParts();
  await written(parts);
  const [one, other] = [await makeList(parts, ['bob', 'cid']), await makeList(parts, ['bob', 'cid'])];
  const read = (args: object) => parts.services.readFeed(ann(parts), args);
  await expect(read({ listId: one, view: 'x' })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  await expect(parts.services.readFeed(parts.session('bob'), { listId: one })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  const { end: after } = await read({ listId: one, first: 1 });
  expect((await read({ listId: one, after })).edges).not.toEqual([]);
  for (const asked of [{ listId: other }, {}])
    await expect(read({ ...asked, after })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
  await expect(
    parts.services.markFeedRead(parts.session('bob'), clock.now(), { listId: one }),
  ).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a list that becomes exclusive leaves a feed that the process has kept', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'bob' }]);
  await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
  await parts.fanOut();
  const { id } = await parts.services.createList(ann(parts), { name: 'x', isExclusive: false });
  await parts.services.addToList(ann(parts), id, ['bob']);
  const size = async () => (await parts.services.readFeed(ann(parts), {})).edges.length;
  expect([await size(), await size(), await size()]).toEqual([1, 1, 1]);
  expect(await parts.services.countUnread(ann(parts))).toMatchObject({ count: 1 });
  await parts.services.updateList(ann(parts), id, { isExclusive: true });
  expect([await size(), await size()]).toEqual([0, 0]);
  expect(await parts.services.countUnread(ann(parts))).toMatchObject({ count: 0 });
  await parts.services.removeFromList(ann(parts), id, ['bob']);
  expect(await size()).toBe(1);
  await parts.services.addToList(ann(parts), id, ['bob']);
  expect(await size()).toBe(0);
  expect(await parts.services.countUnread(ann(parts))).toMatchObject({ count: 0 });
});
