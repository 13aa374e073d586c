import { expect, test } from 'vitest';
import { compareFeedPositions } from '../../../src/domain/newsfeed-item.ts';
import type { FeedGroup, FeedOrder, FeedPage } from '../../../src/core/shapes.ts';
import { clock } from '../../../src/lib/clock.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts, type PartsOptions } from '../../support/parts.ts';

const ORDERS: readonly FeedOrder[] = ['RELEVANCY', 'RECENT', 'TOP'];

async function publishTo(parts: Parts, count: number, tag = 'red'): Promise<string[]> {
  const outcomes = await parts.services.publishActions(
    parts.service,
    Array.from({ length: count }, (_, n) => ({
      actorId: 'actor',
      scope: 'PUBLIC',
      mentions: ['ann'],
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n), tags: [tag] } },
    })),
  );
  await parts.fanOut();
  return outcomes.map(({ action }) => action?.id ?? '');
}

async function pageOf(parts: Parts, args: object): Promise<FeedPage> {
  return parts.services.readFeed(parts.session('ann'), { withUnread: true, ...args });
}

function unreadOn(page: FeedPage): number {
  return page.edges.filter(({ node }) => node.isUnread).length;
}

/** Ann has read eight of twenty. */
async function openScene(options: PartsOptions = {}): Promise<Parts> {
  const parts = await openParts(options);
  await publishTo(parts, 8);
  await parts.services.markFeedRead(parts.session('ann'), clock.now());
  await publishTo(parts, 12, 'blue');
  return parts;
}

test.each<[FeedOrder, number]>([
  ['RELEVANCY', 1],
  ['RELEVANCY', 100],
  ['RECENT', 5],
  ['TOP', 5],
])(
  'list and count of a page come from one read, whatever changes in between: %s, first %i',
  async (order, first) => {
    await using parts = await openScene();
    const page = await pageOf(parts, { first, order });
    const [bumped = ''] = await publishTo(parts, 3);
    await parts.services.hideAction(
      parts.session('admin', 'admin'),
      page.edges[0]?.node.actionId ?? '',
      null,
    );
    await parts.services.addInteraction(parts.session('bob'), { actionId: bumped, kind: 'COMMENT' });
    await parts.fanOut();
    expect(await page.countUnread()).toEqual({ count: 12, isExact: true });
    expect(unreadOn(page)).toBe(Math.min(first, 12));
  },
);

test('a page uses one profile of its reader, as of when the read was recorded', async () => {
  await using parts = await openScene();
  await parts.database.collections.feeds.updateOne({ _id: 'ann' }, { $set: { activeAt: new Date(0) } });
  const session = parts.session('ann');
  await session.profile();
  await parts.services.markFeedRead(parts.session('ann'), clock.now());
  const page: FeedPage = await parts.services.readFeed(session, { withUnread: true, first: 5 });
  expect(unreadOn(page)).toBe(0);
  expect(await page.countUnread()).toEqual({ count: 0, isExact: true });
});

test('a later page counts the unread entries it shows, also if they are gone meanwhile', async () => {
  await using parts = await openScene();
  const { end: endCursor } = await pageOf(parts, { first: 5 });
  const page = await pageOf(parts, { first: 5, after: endCursor });
  for (const { node } of page.edges)
    await parts.services.hideAction(parts.session('admin', 'admin'), node.actionId, null);
  expect(await page.countUnread()).toEqual({ count: 12, isExact: true });
});

test('the count of a list covers what passes its filter', async () => {
  await using parts = await openScene();
  for (const order of ORDERS) {
    const count = async (filter: object): Promise<number> =>
      (await (await pageOf(parts, { first: 2, order, filter })).countUnread()).count;
    expect(await count({ tags: ['red'] })).toBe(0);
    expect(await count({ tags: ['blue'] })).toBe(12);
    expect(await count({ unreadOnly: true })).toBe(12);
    expect(await count({ types: ['Posted'] })).toBe(0);
  }
  expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 12, isExact: true });
});

test('counts to a hundred and says if there are more', async () => {
  await using parts = await openScene();
  await publishTo(parts, 88);
  const exact = await pageOf(parts, { first: 1 });
  expect(await exact.countUnread()).toEqual({ count: 100, isExact: true });
  await publishTo(parts, 1);
  const page = await pageOf(parts, { first: 1 });
  expect(await page.countUnread()).toEqual({ count: 100, isExact: false });
});

test.each([1, 25])('a page of %i with its count takes only the round trips of the page', async (first) => {
  await using parts = await openScene({ monitorCommands: true });
  // The first read after a while notes that the reader is there.
  await parts.services.readFeed(parts.session('ann'), {});
  const commands = await commandsOf(parts.database, async () => {
    await (await pageOf(parts, { first })).countUnread();
  });
  const names = commands.map(({ name, collection }) => `${name} ${collection}`);
  expect(names.filter((name) => name !== 'find refs').sort()).toEqual(['aggregate feeds']);
});

/** Five groups of eight in the feed of Ann, each of one post and by eight members. */
async function openGroups(): Promise<{ readonly parts: Parts; readonly ids: readonly string[] }> {
  const parts = await openParts();
  const outcomes = await parts.services.publishActions(
    parts.service,
    Array.from({ length: 40 }, (_, n) => ({
      ...{ actorId: `actor-${String(n % 8)}`, scope: 'PUBLIC', mentions: ['ann'] },
      conducted: new Date(Date.UTC(2024, 0, 10, 0, n)),
      descriptor: { liked: { objectType: 'post', objectId: String(n % 5) } },
    })),
  );
  await parts.fanOut();
  return { parts, ids: outcomes.map(({ action }) => action?.id ?? '') };
}

/** What of a group is at odds with its items, or with their order. */
async function oddsOf({ relevancy, isUnread, load }: FeedGroup): Promise<unknown[]> {
  const items = await load(() => false);
  const [top] = items;
  const inOrder = [...items].sort(compareFeedPositions);
  const ids = new Set(items.map(({ actionId }) => actionId));
  return [
    ...(top?.relevancy.getTime() === relevancy.getTime() ? [] : ['relevancy']),
    ...(top?.isUnread === isUnread ? [] : ['isUnread']),
    ...(inOrder.every((item, n) => item === items[n]) ? [] : ['order']),
    ...(ids.size === items.length ? [] : ['twice']),
  ];
}

test.each([5, 2])(
  'the items of a group come from the read of its page of %i, whatever changes in between',
  async (first) => {
    const { parts, ids } = await openGroups();
    await using _ = parts;
    const { services } = parts;
    const after = first === 5 ? null : (await services.readFeedGroups(parts.session('ann'), { first })).end;
    const page = await services.readFeedGroups(parts.session('ann'), { first, after });
    const tops = await Promise.all(
      (await services.readFeedGroups(parts.session('ann'), { first, after })).edges.map(({ node }) =>
        node.load(() => true),
      ),
    );
    const [hidden, marked] = tops.map(([item]) => item?.actionId ?? '');
    await services.hideFeedItem(parts.session('ann'), hidden ?? '');
    await services.markItemsRead(parts.session('ann'), [marked ?? '']);
    for (const id of ids.filter((_id, n) => n % 3 === 0))
      await services.addInteraction(parts.session('bob'), { actionId: id, kind: 'COMMENT' });
    await publishTo(parts, 1);
    await parts.fanOut();
    expect(await Promise.all(page.edges.map(({ node }) => oddsOf(node)))).toEqual(page.edges.map(() => []));
  },
);

test('every group is consistent with its items while others interact and the reader marks items', async () => {
  const { parts, ids } = await openGroups();
  await using _ = parts;
  const { services } = parts;
  await using worker = parts.worker();
  worker.start();
  const over = new AbortController();
  const writing = (async () => {
    for (let n = 0; !over.signal.aborted; n++) {
      const id = ids[(n * 7) % ids.length] ?? '';
      const other = ids[(n * 11) % ids.length] ?? '';
      await services.addInteraction(parts.session('bob'), { actionId: id, kind: 'COMMENT' });
      await services[n % 2 === 0 ? 'markItemsRead' : 'markItemsUnread'](parts.session('ann'), [other]);
    }
  })();
  let after: string | null = null;
  for (let n = 0; n < 25; n++) {
    const page = await services.readFeedGroups(parts.session('ann'), { first: 2, after });
    for (const { node } of page.edges) expect(await oddsOf(node)).toEqual([]);
    after = page.hasMore ? page.end : null;
  }
  over.abort();
  await writing;
});
