import { expect, onTestFinished, test, vi } from 'vitest';
import { clock } from '../../src/lib/clock.ts';
import { letExpire } from '../support/expire.ts';
import { ListRead } from '../../src/feed/page/list-read.ts';
import { openStages } from '../../src/feed/page/read-page.ts';
import { checkFeedFilter } from '../../src/feed/page/filters.ts';
import { MEMBER } from '../../src/feed/loads/names.ts';
import { openParts, type Parts } from '../support/parts.ts';

const HOUR = 3_600_000;
const RED = { filter: { tags: ['red'] } };

/** What a process says of Ann's feed: the badge, and both counts of a page and of a filtered one. */
async function countsOf(parts: Parts): Promise<unknown> {
  const { services } = parts;
  const page = (args: object) =>
    services.readFeed(parts.session('ann'), { first: 3, withUnread: true, withTotal: true, ...args });
  const counts: unknown[] = [await services.countUnread(parts.session('ann'))];
  for (const args of [{}, RED]) {
    const { countUnread, countTotal } = await page(args);
    counts.push(await countUnread(), await countTotal());
  }
  return counts;
}

const ORDERS = ['RELEVANCY', 'RECENT', 'TOP'] as const;

/** What a process shows of Ann's feed: the first two pages of each order and of a filter, and groups with all they have. */
async function pagesOf(parts: Parts): Promise<unknown> {
  const { services } = parts;
  const shown: unknown[] = [];
  for (const args of [...ORDERS.map((order) => ({ order })), RED]) {
    const page = (after: string | null) =>
      services.readFeed(parts.session('ann'), { first: 3, after, withUnread: true, ...args });
    const first = await page(null);
    for (const { edges, hasMore: hasNextPage } of [first, await page(first.end)])
      shown.push([edges.map(({ node: { actionId, isUnread } }) => [actionId, isUnread]), hasNextPage]);
  }
  for (const args of [{}, RED]) {
    const page = await services.readFeedGroups(parts.session('ann'), { first: 2, withUnread: true, ...args });
    const next = await services.readFeedGroups(parts.session('ann'), { ...args, after: page.end });
    shown.push(await page.countTotal(), await page.countUnread());
    for (const { node } of [...page.edges, ...next.edges]) {
      const items = await node.load(() => false);
      shown.push([node.groupKey, node.isUnread, items.map(({ actionId }) => actionId)]);
    }
  }
  return shown;
}

async function publish(parts: Parts, tag: string, more: object = {}): Promise<string> {
  const descriptor = { custom: { verb: 'posted', objectType: 'post', objectId: tag, tags: [tag] } };
  const { action } = await parts.publish({ actorId: 'bob', scope: 'PUBLIC', descriptor, ...more });
  await parts.fanOut();
  return action.id;
}

test('a process that knows counts and pages of a feed says what one says that has just begun, whatever has changed', async () => {
  await using parts = await openParts();
  const { services, service } = parts;
  const ann = () => parts.session('ann');
  const admin = () => parts.session('admin', 'admin');
  await services.followMany(service, [
    { followerId: 'ann', refId: 'bob' },
    { followerId: 'ann', refId: 'carl' },
  ]);
  const ids: string[] = [];
  for (const tag of ['red', 'blue', 'red', 'blue', 'red', 'blue']) ids.push(await publish(parts, tag));
  const [first = '', second = '', third = '', fourth = ''] = ids;
  const changes: readonly (() => Promise<unknown>)[] = [
    () => publish(parts, 'red'),
    () => services.addInteraction(parts.session('carl'), { actionId: first, kind: 'LIKE' }),
    () => services.hideAction(admin(), first, null),
    () => services.unhideAction(admin(), first),
    () =>
      services.updateAction(parts.session('bob'), second, {
        refs: [{ id: 'thing', type: 'thing', label: 'Thing' }],
      }),
    () => letExpire(parts, third, new Date(Date.now() + HOUR)),
    () => services.markFeedRead(ann(), clock.now()),
    () => publish(parts, 'red', { actorId: 'carl' }),
    () => services.addMute(ann(), { memberId: 'carl' }),
    () => services.removeMute(ann(), { memberId: 'carl' }),
    () => services.blockMember(ann(), 'carl'),
    () => services.unblockMember(ann(), 'carl'),
    () => services.hideFeedItem(ann(), fourth),
    () => services.unhideFeedItem(ann(), fourth),
    () => services.markItemsUnread(ann(), [fourth]),
    () => services.markFeedRead(ann(), clock.now()),
    () => services.markItemsUnread(ann(), [first, second]),
    () => services.archiveFeedItem(ann(), second),
    () => services.unarchiveFeedItem(ann(), second),
    () => services.addInteraction(parts.session('carl'), { actionId: second, kind: 'LIKE' }),
    () => services.hideAction(admin(), first, null),
    () => services.unhideAction(admin(), first),
    () => services.markItemsRead(ann(), [second]),
    () => services.deleteAction(parts.session('bob'), fourth),
    () => services.unfollow(ann(), 'carl', false),
  ];
  const compare = async (): Promise<void> => {
    await using other = await parts.reopen();
    const all = async (of: Parts): Promise<unknown> => [await countsOf(of), await pagesOf(of)];
    const fresh = await all(other);
    // What it keeps of this is what it knows when the next change comes.
    expect(await all(parts)).toEqual(fresh);
  };
  await compare();
  for (const change of changes) {
    await change();
    await parts.fanOut();
    await compare();
  }
});

test('a session that read its reader before says nothing about an answer that came later', async () => {
  await using parts = await openParts();
  const { services } = parts;
  await services.followMany(parts.service, [{ followerId: 'ann', refId: 'bob' }]);
  for (const tag of ['red', 'blue']) await publish(parts, tag);
  await countsOf(parts);
  const early = parts.session('ann');
  await early.profile();
  await services.markFeedRead(parts.session('ann'), clock.now());
  await (await services.readFeed(early, { withUnread: true })).countUnread();
  await services.countUnread(early);
  const read = { count: 0, isExact: true };
  expect(await services.countUnread(parts.session('ann'))).toEqual(read);
  const page = await services.readFeed(parts.session('ann'), { withUnread: true });
  expect(await page.countUnread()).toEqual(read);
});

test('an action that expires is no longer counted, though nothing has been written', async () => {
  await using parts = await openParts();
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'bob' }]);
  const [first, second] = [await publish(parts, 'red'), await publish(parts, 'red')];
  await letExpire(parts, second, new Date(Date.now() + HOUR));
  const before = [
    { count: 2, isExact: true },
    { count: 2, isExact: true },
    { count: 2, isExact: true },
  ];
  for (let n = 0; n < 2; n += 1) expect(await countsOf(parts)).toEqual([...before, ...before.slice(1)]);
  const shown = async (): Promise<unknown> => {
    const { edges } = await parts.services.readFeed(parts.session('ann'), {});
    return edges.map(({ node }) => node.actionId);
  };
  for (let n = 0; n < 2; n += 1) expect(await shown()).toEqual([second, first]);
  const later = vi.spyOn(clock, 'time').mockReturnValue(Date.now() + 2 * HOUR);
  onTestFinished(() => later.mockRestore());
  const after = before.map((count) => ({ ...count, count: 1 }));
  expect(await countsOf(parts)).toEqual([...after, ...after.slice(1)]);
  expect(await shown()).toEqual([first]);
});

test('a mute that ends no longer keeps anything out, though nothing has been written', async () => {
  await using parts = await openParts();
  const { services } = parts;
  await services.followMany(parts.service, [
    { followerId: 'ann', refId: 'bob' },
    { followerId: 'ann', refId: 'carl' },
  ]);
  const first = await publish(parts, 'red');
  const second = await publish(parts, 'red', { actorId: 'carl' });
  await services.addMute(parts.session('ann'), { memberId: 'carl' }, new Date(Date.now() + HOUR));
  const shown = async (): Promise<unknown> => {
    const page = await services.readFeed(parts.session('ann'), { withTotal: true });
    return [page.edges.map(({ node }) => node.actionId), (await page.countTotal()).count];
  };
  for (let n = 0; n < 2; n += 1) expect(await shown()).toEqual([[first], 1]);
  const later = vi.spyOn(clock, 'time').mockReturnValue(Date.now() + 2 * HOUR);
  onTestFinished(() => later.mockRestore());
  expect(await shown()).toEqual([[second, first], 2]);
});

/** A read of the first page of Ann's feed that shows all it reads. @param remembers whether the next one knows what it needed */
async function readTop(parts: Parts, remembers = false): Promise<ListRead> {
  const read = new ListRead(parts.core, parts.session('ann'), 'test');
  if (remembers) read.expect('page');
  const stages = openStages(read, { filter: checkFeedFilter(null), order: 'RELEVANCY' });
  const entries = await stages.skeleton({ from: null, isUp: false, limit: 10 });
  await read.known(read.counts, 'count');
  await stages.show(entries);
  if (remembers) read.keepNeeded('page', 0);
  return read;
}

test('what a stage reads beyond the first answer is noted, whatever it is: then nothing is kept', async () => {
  await using parts = await openParts();
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'bob' }]);
  await publish(parts, 'red');
  await parts.services.addMute(parts.session('ann'), { phrase: 'rain' });
  await readTop(parts);
  expect((await readTop(parts)).version).not.toBeNull();

  const repositories = [
    'actions',
    'itemMarks',
    'feedReader',
    'follows',
    'actionGroups',
    'pulledRefs',
  ] as const;
  for (const name of repositories) {
    const read = await readTop(parts);
    expect([name, read.core[name] === parts.core[name], read.version]).toEqual([name, true, null]);
  }
  const uses: readonly ((read: ListRead) => unknown)[] = [
    ({ session }) => session.load(MEMBER, 'ann'),
    ({ session }) => session.loadMany(MEMBER, ['ann']),
    ({ session }) => session.loadAt('0'.repeat(24), 1),
    (read) => read.begin({ limit: 1 }).reader,
    (read) => read.beginUnread(1).ahead.known(),
  ];
  for (const use of uses) {
    const read = await readTop(parts);
    await use(read);
    expect([String(use), read.version]).toEqual([String(use), null]);
  }
  const nothing = await readTop(parts);
  await nothing.session.loadMany(MEMBER, []);
  expect(nothing.version).not.toBeNull();
});

test.each([
  ['a mark', (parts: Parts, id: string) => parts.services.hideFeedItem(parts.session('ann'), id)],
  [
    'an item that comes back',
    (parts: Parts, id: string) =>
      parts.services.snoozeFeedItem(parts.session('ann'), id, new Date(Date.now() + HOUR)),
  ],
  ['a follow that ended', (parts: Parts) => parts.services.unfollow(parts.session('ann'), 'carl', false)],
])('nothing is kept for a reader with %s: it is read for each page', async (_what, change) => {
  await using parts = await openParts();
  await parts.services.followMany(parts.service, [
    { followerId: 'ann', refId: 'bob' },
    { followerId: 'ann', refId: 'carl' },
  ]);
  const id = await publish(parts, 'red');
  await publish(parts, 'red');
  await readTop(parts);
  expect((await readTop(parts)).version).not.toBeNull();
  await change(parts, id);
  await readTop(parts);
  expect((await readTop(parts)).version).toBeNull();
});

test.each([
  ['a mark', (parts: Parts, id: string) => parts.services.hideFeedItem(parts.session('ann'), id)],
  ['a follow that ended', (parts: Parts) => parts.services.unfollow(parts.session('ann'), 'carl', false)],
])('what a page needed of a reader with %s is in the first answer of the next one', async (_what, change) => {
  await using parts = await openParts();
  await parts.services.followMany(parts.service, [
    { followerId: 'ann', refId: 'bob' },
    { followerId: 'ann', refId: 'carl' },
  ]);
  const id = await publish(parts, 'red');
  await publish(parts, 'red');
  await change(parts, id);
  expect((await readTop(parts, true)).version).toBeNull();
  const [second, third] = [await readTop(parts, true), await readTop(parts, true)];
  expect(second.version).not.toBeNull();
  expect(third.version).toBe(second.version);
  await parts.services.archiveFeedItem(parts.session('ann'), id);
  const after = await readTop(parts, true);
  expect(after.version).not.toBe(second.version);
});
