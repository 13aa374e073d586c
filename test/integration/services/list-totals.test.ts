import { expect, test } from 'vitest';
import type { FeedEvent, FeedOrder } from '../../../src/core/shapes.ts';
import { commandsOf } from '../../support/commands.ts';
import { seedActions } from '../../conformance/feed-tools.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const ORDERS: readonly FeedOrder[] = ['RELEVANCY', 'RECENT', 'TOP'];

async function publishMany(
  parts: Parts,
  count: number,
  tags: readonly string[] = ['red'],
): Promise<string[]> {
  const outcomes = await parts.services.publishActions(
    parts.service,
    Array.from({ length: count }, (_, n) => ({
      actorId: 'actor',
      scope: 'PUBLIC',
      mentions: ['ann'],
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n), tags: [...tags] } },
    })),
  );
  await parts.fanOut();
  return outcomes.map(({ action }) => action?.id ?? '');
}

test.each(ORDERS)(
  'counts the visible entries of the list, whatever page is read, in order %s',
  async (order) => {
    await using parts = await openParts();
    await publishMany(parts, 7, ['red']);
    const blue = await publishMany(parts, 5, ['blue', 'green']);
    await parts.services.hideFeedItem(parts.session('ann'), blue[0] ?? '');
    const total = async (args: object): Promise<unknown> =>
      (await parts.services.readFeed(parts.session('ann'), { order, ...args })).countTotal();
    expect(await total({ first: 1 })).toEqual({ count: 11, isExact: true });
    expect(await total({ first: 1, filter: { tags: ['blue', 'nothing'] } })).toEqual({
      count: 4,
      isExact: true,
    });
    expect(await total({ filter: { reasons: ['FOLLOW'] } })).toEqual({ count: 0, isExact: true });
    expect(await total({ filter: { reasons: ['FOLLOW', 'MENTION'] } })).toEqual({ count: 11, isExact: true });
    const { end: endCursor } = await parts.services.readFeed(parts.session('ann'), { order, first: 4 });
    expect(await total({ first: 2, after: endCursor })).toEqual({ count: 11, isExact: true });
  },
);

test('list and total of a page come from one read, whatever changes in between', async () => {
  await using parts = await openParts();
  const ids = await publishMany(parts, 12);
  const page = await parts.services.readFeed(parts.session('ann'), { first: 100 });
  await publishMany(parts, 3);
  await parts.services.hideAction(parts.session('admin', 'admin'), ids[3] ?? '', null);
  expect(await page.countTotal()).toEqual({ count: 12, isExact: true });
  const slice = await parts.services.readSlice(parts.session('ann'), 'actor', { first: 100 });
  await publishMany(parts, 3);
  expect(slice.edges).toHaveLength(14);
  expect(await slice.countTotal()).toEqual({ count: 14, isExact: true });
});

test('counts to a thousand and says if there are more', async () => {
  await using parts = await openParts();
  await seedActions(parts, 1_000);
  await parts.services.follow(parts.session('ann'), 'site', 1_000);
  await parts.fanOut();
  const totals = async (): Promise<unknown[]> => {
    const session = parts.session('ann');
    const admin = parts.session('admin', 'admin');
    return Promise.all([
      (await parts.services.readFeed(session, { first: 1 })).countTotal(),
      (await parts.services.readSlice(session, 'actor', { first: 1 })).countTotal(),
      (await parts.services.listActions(admin, { first: 1 })).countTotal(),
    ]);
  };
  expect(await totals()).toEqual(Array.from({ length: 3 }, () => ({ count: 1_000, isExact: true })));
  await publishMany(parts, 1);
  expect(await totals()).toEqual(Array.from({ length: 3 }, () => ({ count: 1_000, isExact: false })));
});

test('of a thousand that are stored it is not asked whether there are more below', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await seedActions(parts, 1_000);
  await parts.services.follow(parts.session('ann'), 'site', 1_000);
  await publishMany(parts, 1);
  const [lowest] = (await parts.services.readFeed(parts.session('ann'), { last: 1 })).edges;
  const { relevancy = new Date(), actionId = '' } = lowest?.node ?? {};
  const floor = { relevancy, actionId };
  await parts.core.feeds.raiseFloor('ann', floor, new Date(Date.now() + 1_000_000));
  const page = await parts.services.readFeed(parts.session('ann'), { first: 1 });
  const read = await commandsOf(parts.database, async () => {
    expect(await page.countTotal()).toEqual({ count: 1_000, isExact: false });
  });
  expect(read.filter(({ collection }) => collection === 'follows')).toEqual([]);
});

test('a page without its total reads no more than the page', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await publishMany(parts, 60);
  await parts.services.readFeed(parts.session('ann'), {});
  const session = parts.session('ann');
  await session.profile();
  const read = await commandsOf(parts.database, () => parts.services.readFeed(session, { first: 25 }));
  expect(read.map(({ name, collection }) => `${name} ${collection}`)).toEqual(['aggregate feeds']);
  expect(JSON.stringify(read[0]?.command)).toContain('"$limit":26');
  const page = await parts.services.readFeed(session, { first: 25 });
  const counted = await commandsOf(parts.database, () => page.countTotal());
  expect(counted.map(({ name, collection }) => `${name} ${collection}`)).toEqual([
    'find newsfeedItems',
    // Of the one behind the page, which the process knows, only the revision.
    'aggregate actions',
  ]);
});

test('the list of all actions takes a filter', async () => {
  await using parts = await openParts();
  const conducted = new Date(Date.UTC(2026, 0, 5));
  const descriptor = (tag: string) => ({
    custom: { verb: 'posted', objectType: 'post', objectId: 'p', tags: [tag] },
  });
  const old = (await parts.publish({ actorId: 'bob', conducted, descriptor: descriptor('red') })).action.id;
  const red = (await parts.publish({ actorId: 'ann', descriptor: descriptor('red') })).action.id;
  const blue = (await parts.publish({ actorId: 'bob', descriptor: descriptor('blue') })).action.id;
  await parts.fanOut();
  const listed = async (filter: object, more: object = {}): Promise<unknown> => {
    const page = await parts.services.listActions(parts.session('service', 'service'), { filter, ...more });
    expect(await page.countTotal()).toEqual({ count: page.edges.length, isExact: true });
    return page.edges.map(({ node }) => node.id);
  };
  expect(await listed({})).toEqual([blue, red, old]);
  expect(await listed({ actorIds: ['bob'] })).toEqual([blue, old]);
  expect(await listed({ tags: ['red'] }, { fanOutState: 'DONE' })).toEqual([red, old]);
  expect(await listed({ tags: ['red', 'blue'], actorIds: ['bob'] })).toEqual([blue, old]);
  expect(await listed({ since: new Date(conducted.getTime() + 1) })).toEqual([blue, red]);
  expect(await listed({ since: conducted, until: new Date(conducted.getTime() + 1) })).toEqual([old]);
  expect(await listed({ since: new Date(Date.UTC(9_000, 0)) })).toEqual([]);
  expect(await listed({ since: new Date(-8_640_000_000_000_000) })).toEqual([blue, red, old]);
  await expect(listed({ types: ['Nope'] })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  await expect(parts.services.listActions(parts.session('ann'), { filter: {} })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('the live cursor of a page delivers what the page lacks', async () => {
  await using parts = await openParts();
  const [first = ''] = await publishMany(parts, 1);
  const page = await parts.services.readFeed(parts.session('ann'), { withLiveCursor: true });
  expect(page.edges.map(({ node }) => node.actionId)).toEqual([first]);
  const [second] = await publishMany(parts, 1);
  const controller = new AbortController();
  const events = await parts.services.watchFeed(parts.session('ann').identity, {
    after: page.liveCursor,
    signal: controller.signal,
  });
  const seen: FeedEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (event.kind !== 'ready') break;
  }
  controller.abort();
  expect(seen).toMatchObject([{ kind: 'ready' }, { kind: 'added', item: { actionId: second } }]);
  expect((await parts.services.readFeed(parts.session('ann'), {})).liveCursor).toBeNull();
});
