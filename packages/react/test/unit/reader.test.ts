import { FeedClientError, type FeedPage, type FeedQuery } from '@fanfare/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { commentsOf } from '../../src/store/comments.ts';
import { keyOf } from '../../src/store/feed-options.ts';
import * as deeds from '../../src/store/deeds.ts';
import * as engaging from '../../src/store/engaging.ts';
import { Reader } from '../../src/store/reader.ts';
import { createTestClient, testItem, type TestClientOptions } from '../../src/testing.ts';
import type { FanfareItem } from '../../src/item.ts';

const at = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
const ITEMS = [testItem('b', at(2)), testItem('a', at(1))];

function settle(options: Partial<TestClientOptions> = {}) {
  const client = createTestClient({ feed: () => ITEMS, ...options });
  const reader = new Reader({ client });
  const feed = reader.feed({});
  const renders = vi.fn();
  const leave = feed.use(renders);
  const shown = (): string[] => feed.getSnapshot().items.map(({ id }) => id);
  const ready = () => vi.waitFor(() => expect(feed.getSnapshot().status).toBe('ready'));
  const live = () => vi.waitFor(() => expect(client.watching).toBe(1));
  return { client, reader, feed, renders, leave, shown, ready, live };
}

/** A promise and what ends it. */
function held<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

test('a like is shown at once, its event does not count it twice, and a failed removal is undone', async () => {
  const unlike = held<never>();
  const liked = testItem('b', at(2));
  const after = {
    ...liked.action,
    engagement: { ...liked.action.engagement, likes: 1 },
    viewer: { ...liked.action.viewer, hasLiked: true },
  };
  const { client, reader, ready, live } = settle({
    mutations: {
      addInteraction: () => Promise.resolve({ isReplay: false, interaction: null, action: after }),
      removeInteraction: () => unlike.promise,
    },
  });
  await ready();
  await live();
  const state = (): [number, boolean] => {
    const action = reader.actions.get('action-b');
    return [action?.engagement.likes ?? -1, action?.viewer.hasLiked ?? false];
  };
  const liking = engaging.interact(reader, 'action-b', 'LIKE', true);
  expect(state()).toEqual([1, true]);
  await liking;
  expect(state()).toEqual([1, true]);
  const unliking = engaging.interact(reader, 'action-b', 'LIKE', false);
  expect(state()).toEqual([0, false]);
  await client.emit({ __typename: 'FeedItemUpdated', item: { ...liked, relevancy: at(3), action: after } });
  expect(state()).toEqual([0, false]);
  unlike.reject(new Error('No'));
  await expect(unliking).rejects.toThrow('No');
  expect(state()).toEqual([1, true]);
});

test('a deleted item stays away when a late event adds it', async () => {
  const { client, reader, shown, ready, live } = settle({
    mutations: { deleteAction: ({ id }) => Promise.resolve({ id }) },
  });
  await ready();
  await live();
  const deleting = deeds.deleteAction(reader, 'action-b');
  expect(shown()).toEqual(['a']);
  await deleting;
  for (const __typename of ['FeedItemAdded', 'FeedItemUpdated'] as const)
    await client.emit({ __typename, item: testItem('b', at(2)) });
  reader.feed({}).showWaiting();
  expect(shown()).toEqual(['a']);
});

test('an item whose hiding failed comes back, and a hidden one comes back on undo', async () => {
  let fails = true;
  const { client, reader, shown, ready, live } = settle({
    mutations: {
      hideFeedItem: (of) => (fails ? Promise.reject(new Error('No')) : Promise.resolve(of)),
      unhideFeedItem: (of) => Promise.resolve(of),
    },
  });
  await ready();
  await live();
  const [item] = ITEMS as [FanfareItem];
  const failing = deeds.remove(reader, item, 'hide');
  expect(shown()).toEqual(['a']);
  await expect(failing).rejects.toThrow('No');
  expect(shown()).toEqual(['b', 'a']);
  fails = false;
  const undo = await deeds.remove(reader, item, 'hide');
  await client.emit({ __typename: 'FeedItemRemoved', itemId: 'b', actionId: 'action-b' });
  await undo();
  await client.emit({ __typename: 'FeedItemAdded', item });
  reader.feed({}).showWaiting();
  expect(shown()).toEqual(['b', 'a']);
});

test('an item that is hidden and shown again elsewhere comes back, also if its event overtakes the response', async () => {
  const hiding = held<{ readonly actionId: string }>();
  const { client, reader, feed, shown, ready, live } = settle({
    mutations: { hideFeedItem: () => hiding.promise },
  });
  await ready();
  await live();
  const [item] = ITEMS as [FanfareItem];
  const hidden = deeds.remove(reader, item, 'hide');
  await client.emit({ __typename: 'FeedItemRemoved', itemId: 'b', actionId: 'action-b' });
  hiding.resolve({ actionId: 'action-b' });
  await hidden;
  expect(shown()).toEqual(['a']);
  await client.emit({ __typename: 'FeedItemAdded', item });
  feed.showWaiting();
  expect(shown()).toEqual(['b', 'a']);
});

test('marking all as read changes items and count and removes nothing; a failure undoes it', async () => {
  let fails = false;
  const { reader, feed, shown, ready } = settle({
    mutations: {
      markFeedRead: () =>
        fails
          ? Promise.reject(new Error('No'))
          : Promise.resolve({ unreadCount: { count: 0, isExact: true } }),
    },
  });
  await ready();
  const unread = (): boolean[] => feed.getSnapshot().items.map(({ isUnread }) => isUnread);
  fails = true;
  const failing = reader.markAllRead(at(2));
  expect(unread()).toEqual([false, false]);
  await expect(failing).rejects.toThrow('No');
  expect(unread()).toEqual([true, true]);
  fails = false;
  await reader.markAllRead(at(2));
  expect([unread(), shown(), reader.unread.getSnapshot()?.count]).toEqual([[false, false], ['b', 'a'], 0]);
});

test('marking all of a view as read is about that view; what else it has moved comes with the answers of the server', async () => {
  const sent: unknown[] = [];
  let done = held<{ unreadCount: { count: number; isExact: boolean } }>();
  const { reader, feed, ready } = settle({
    mutations: {
      markFeedRead: (variables) => {
        sent.push(variables);
        return (done = held()).promise;
      },
    },
  });
  await ready();
  const team = reader.feed({ view: 'team' });
  const stop = team.use(() => undefined);
  await vi.waitFor(() => expect(team.getSnapshot().status).toBe('ready'));
  const unread = () =>
    [feed, team].map((one) => one.getSnapshot().items.filter((item) => item.isUnread).length);
  const answer = { unreadCount: { count: 2, isExact: true } };
  const ofView = reader.markAllRead(at(2), { view: 'team' });
  expect(unread()).toEqual([2, 0]);
  done.resolve(answer);
  await ofView;
  await vi.waitFor(() => expect(unread()).toEqual([2, 2]));
  const ofFeed = reader.markAllRead(at(2));
  expect(unread()).toEqual([0, 2]);
  done.resolve(answer);
  await ofFeed;
  expect(sent).toEqual([{ upTo: at(2), view: 'team' }, { upTo: at(2) }]);
  stop();
});

test('thousands of items marked one by one are shown as marked, each found among a few marks', async () => {
  const count = 2_000;
  const items = Array.from({ length: count }, (_, n) => testItem(`item${String(n)}`, at(-n)));
  const answer = { unreadCount: { count: 0, isExact: true } };
  const { client, reader, feed, ready, live } = settle({
    feed: () => items,
    mutations: {
      markItemsRead: () => Promise.resolve(answer),
      markItemsUnread: () => Promise.resolve(answer),
    },
  });
  await ready();
  await live();
  const read = (): number => feed.getSnapshot().items.filter(({ isUnread }) => !isUnread).length;
  for (const [n, item] of items.entries()) if (n % 2 === 0) await reader.markItems([item], true);
  expect(read()).toBe(count / 2);
  // The last mark of an item counts, and a bump after it.
  await reader.markItems(items.slice(0, 2), false);
  await reader.markItems(items.slice(1, 2), true);
  const [first, second, third] = feed.getSnapshot().items;
  expect([first?.isUnread, second?.isUnread, third?.isUnread]).toEqual([true, false, false]);
  const bumped = testItem('item2', at(9));
  await client.emit({ __typename: 'FeedItemUpdated', item: bumped });
  expect(feed.getSnapshot().items.find(({ id }) => id === bumped.id)?.isUnread).toBe(true);
  const lookups = vi.spyOn(Map.prototype, 'get');
  reader.actions.emit();
  // Actions and marks: a few for each item, not one for each mark.
  expect(lookups.mock.calls.length).toBeLessThan(count * 10);
  lookups.mockRestore();
});

test('marking all as read keeps items that were marked as unread, also in a list that is not mounted', async () => {
  const [b, a] = ITEMS as [FanfareItem, FanfareItem];
  let items = ITEMS;
  const { client, reader, feed, leave, ready, live } = settle({
    feed: () => items,
    mutations: { markFeedRead: () => Promise.resolve({ unreadCount: { count: 1, isExact: true } }) },
  });
  await ready();
  await live();
  const unread = (): boolean[] => feed.getSnapshot().items.map(({ isUnread }) => isUnread);
  items = [{ ...b, isUnread: false }, a];
  await reader.markAllRead(at(2));
  await vi.waitFor(() => expect(unread()).toEqual([false, true]));
  leave();
  await vi.waitFor(() => expect(client.watching).toBe(0));
  items = [b, { ...a, isUnread: false }];
  await reader.markAllRead(at(2));
  await vi.waitFor(() => expect(unread()).toEqual([true, false]));
});

test('what the reader did is no news and moves nothing; what others do after it is news', async () => {
  const acted = (id: string, n: number, last: number): FanfareItem => {
    const item = testItem(id, at(n));
    const engagement = { ...item.action.engagement, likes: 1, lastInteraction: at(last) };
    return { ...item, action: { ...item.action, engagement } };
  };
  const answer = held<ReturnType<typeof acted>['action']>();
  const { client, reader, feed, shown, ready, live } = settle({
    mutations: {
      addInteraction: async () => ({ isReplay: false, interaction: null, action: await answer.promise }),
    },
  });
  await ready();
  await live();
  const state = () => [shown(), feed.getSnapshot().waiting];
  const liking = engaging.interact(reader, 'action-a', 'LIKE', true);
  await client.emit({ __typename: 'FeedItemUpdated', item: acted('a', 5, 5) });
  expect(state()).toEqual([['b', 'a'], 0]);
  answer.resolve(acted('a', 5, 5).action);
  await liking;
  await client.emit({ __typename: 'FeedItemUpdated', item: acted('a', 6, 5) });
  expect(state()).toEqual([['b', 'a'], 0]);
  await client.emit({ __typename: 'FeedItemUpdated', item: acted('a', 9, 8) });
  expect(state()).toEqual([['b', 'a'], 1]);
});

test('a resync reads behind what is shown: neither blank nor loading, with the same item objects', async () => {
  const next = held<FanfareItem[]>();
  let isFirst = true;
  const { client, feed, shown, ready, live } = settle({
    feed: async () => {
      if (isFirst) {
        isFirst = false;
        return pageOf(ITEMS);
      }
      return pageOf(await next.promise);
    },
  });
  await ready();
  await live();
  const before = feed.getSnapshot().items[1];
  const resyncing = client.resync('mutes');
  expect([feed.getSnapshot().status, shown()]).toEqual(['ready', ['b', 'a']]);
  next.resolve([testItem('new', at(9)), testItem('a', at(1))]);
  await resyncing;
  expect([shown(), feed.getSnapshot().waiting]).toEqual([['a'], 1]);
  expect(feed.getSnapshot().items[0]?.id).toBe(before?.id);
});

test('a resync reads as far as what is shown, however many new items are above it', async () => {
  let all = Array.from({ length: 40 }, (_, n) => testItem(`old${String(n)}`, at(-n)));
  const { client, feed, shown, ready, live } = settle({
    feed: ({ first = 25, after }) => {
      const from = after === undefined ? 0 : Number(after);
      const end = from + first;
      const pageInfo = { hasNextPage: all.length > end, endCursor: String(end) };
      return Promise.resolve({ ...pageOf(all.slice(from, end)), pageInfo });
    },
  });
  await ready();
  await live();
  const before = shown();
  all = [...Array.from({ length: 60 }, (_, n) => testItem(`new${String(n)}`, at(99 - n))), ...all];
  await client.resync('window-passed');
  expect([shown().slice(0, 25), feed.getSnapshot().waiting]).toEqual([before, 60]);
});

test('a list of nine hundred keeps its length when all is marked as read, here or on another device', async () => {
  const all = Array.from({ length: 1_000 }, (_, n) => testItem(`i${String(n)}`, at(1_000 - n)));
  let until = '';
  const read = ({ first = 25, after = '' }: FeedQuery): FeedPage<FanfareItem> => {
    const from = all.findIndex(({ id }) => id === after) + 1;
    const nodes = all
      .slice(from, from + first)
      .map((item) => ({ ...item, isUnread: item.relevancy > until }));
    return {
      edges: nodes.map((node) => ({ cursor: node.id, node })),
      pageInfo: { hasNextPage: from + first < 1_000, endCursor: nodes.at(-1)?.id ?? null },
      ...{ unread: { count: 100, isExact: false }, state: 'READY', liveCursor: 'here' },
    };
  };
  const { client, reader, feed, ready, live } = settle({
    feed: (query) => Promise.resolve(read(query)),
    mutations: {
      markFeedRead: ({ upTo }) => {
        until = upTo;
        return Promise.resolve({ unreadCount: { count: 0, isExact: true } });
      },
    },
  });
  await ready();
  await live();
  while (feed.getSnapshot().items.length < 900) await feed.loadMore();
  const lengths = new Set<number>();
  onTestFinished(feed.subscribe(() => lengths.add(feed.getSnapshot().items.length)));
  const unread = () => feed.getSnapshot().items.filter(({ isUnread }) => isUnread).length;
  until = at(500);
  await client.resync('marks');
  expect(unread()).toBe(500);
  await reader.markAllRead(at(1_000));
  await feed.refresh();
  expect(unread()).toBe(0);
  expect([...lengths]).toEqual([900]);
});

test('of the lists that were left the latest twenty are kept, whatever was looked for', async () => {
  const { client, reader, ready } = settle({
    mutations: { markFeedRead: () => Promise.resolve({ unreadCount: { count: 0, isExact: true } }) },
  });
  await ready();
  const of = (n: number) => reader.feed({ filter: { text: `word${String(n)}` }, live: 'off' });
  const first = of(0);
  for (let n = 0; n < 40; n += 1) {
    const found = of(n);
    const leave = found.use(() => undefined);
    await vi.waitFor(() => expect(found.getSnapshot().status).toBe('ready'));
    leave();
    await vi.waitFor(() => expect(found.isLeft).toBe(true));
  }
  expect(of(39)).toBe(of(39));
  expect(of(0)).not.toBe(first);
  const before = client.queries.length;
  await reader.markAllRead(at(2));
  expect(client.queries.length - before).toBeLessThan(25);
});

test('a later mark from another device is shown', async () => {
  const { client, reader, feed, ready, live } = settle({
    mutations: { markItemsRead: () => Promise.resolve({ unreadCount: { count: 1, isExact: true } }) },
  });
  await ready();
  await live();
  const unread = () =>
    feed
      .getSnapshot()
      .items.filter(({ isUnread }) => isUnread)
      .map(({ id }) => id);
  await reader.markItems(feed.getSnapshot().items.slice(0, 1), true);
  expect(unread()).toEqual(['a']);
  for (const isUnread of [true, false]) {
    await client.emit({ __typename: 'FeedItemUpdated', item: testItem('b', at(2), { isUnread }) });
    expect(unread()).toEqual(isUnread ? ['b', 'a'] : ['a']);
  }
  await client.emit({ __typename: 'FeedItemUpdated', item: testItem('a', at(1), { isUnread: false }) });
  expect(unread()).toEqual([]);
});

test('a burst of events while a page is loading is applied completely', async () => {
  const second = held<null>();
  const old = Array.from({ length: 5 }, (_, n) => testItem(`old${String(n)}`, at(-n)));
  const { client, feed, ready, live } = settle({
    feed: async ({ after }) => {
      if (after === undefined) return { ...pageOf(ITEMS), pageInfo: { hasNextPage: true, endCursor: 'a' } };
      await second.promise;
      return pageOf(old);
    },
  });
  await ready();
  await live();
  const loading = feed.loadMore();
  for (let n = 0; n < 60; n += 1)
    await client.emit({ __typename: 'FeedItemAdded', item: testItem(`n${String(n)}`, at(10 + n)) });
  second.resolve(null);
  await loading;
  expect([feed.getSnapshot().items.length, feed.getSnapshot().waiting]).toEqual([7, 60]);
  feed.showWaiting();
  expect(feed.getSnapshot().items.length).toBe(67);
});

test('a list that is unmounted before it is connected watches once and leaves nothing open', async () => {
  const { client, feed, leave, ready } = settle();
  leave();
  const again = feed.use(() => undefined);
  await ready();
  await vi.waitFor(() => expect(client.watching).toBe(1));
  expect(client.queries.length).toBe(1);
  again();
  await vi.waitFor(() => expect(client.watching).toBe(0));
});

test('all changes of an item by one event are shown together', async () => {
  const { client, feed, renders, ready, live } = settle();
  await ready();
  await live();
  renders.mockClear();
  const { action } = testItem('b', at(2));
  const liked = { ...action, engagement: { ...action.engagement, likes: 4 } };
  const moved = { ...testItem('a', at(3)), isUnread: false };
  await client.emit({ __typename: 'FeedItemUpdated', item: { ...testItem('b', at(2)), action: liked } });
  expect([renders.mock.calls.length, feed.getSnapshot().items[0]?.action.engagement.likes]).toEqual([1, 4]);
  feed.setAtTop(true);
  await client.emit({ __typename: 'FeedItemUpdated', item: moved });
  expect([renders.mock.calls.length, feed.getSnapshot().items[0]]).toEqual([2, moved]);
});

test('a requested total follows additions and removals', async () => {
  const asked: (boolean | undefined)[] = [];
  const client = createTestClient({
    feed: ({ total }) => {
      asked.push(total);
      return Promise.resolve({ ...pageOf(ITEMS), total: { count: 7, isExact: true } });
    },
  });
  const feed = new Reader({ client }).feed({ total: true });
  feed.use(() => undefined);
  await vi.waitFor(() => expect(client.watching).toBe(1));
  const [, gone] = ITEMS as [FanfareItem, FanfareItem];
  await client.emit({ __typename: 'FeedItemAdded', item: testItem('new', at(9)) });
  await client.emit({ __typename: 'FeedItemUpdated', item: testItem('b', at(10)) });
  expect([asked, feed.getSnapshot().total?.count]).toEqual([[true], 8]);
  await client.emit({ __typename: 'FeedItemRemoved', itemId: gone.id, actionId: gone.action.id });
  expect(feed.getSnapshot().total?.count).toBe(7);
});

test('a total counts nothing twice, and nothing that its filter may exclude', async () => {
  let total = 7;
  const client = createTestClient({
    feed: () =>
      Promise.resolve({
        ...pageOf(ITEMS),
        pageInfo: { hasNextPage: true, endCursor: 'a' },
        total: { count: total, isExact: true },
      }),
  });
  const feed = new Reader({ client }).feed({ total: true, filter: { types: ['Custom'] } });
  feed.use(() => undefined);
  await vi.waitFor(() => expect(client.watching).toBe(1));
  const counts = (count: number) => vi.waitFor(() => expect(feed.getSnapshot().total?.count).toBe(count));
  // The same addition may come twice; here it waits to be shown.
  for (let n = 0; n < 2; n += 1)
    await client.emit({ __typename: 'FeedItemAdded', item: testItem('new', at(9)) });
  await counts(8);
  // Removals come whatever the filter: of this one only the server knows whether it was counted.
  total = 6;
  await client.emit({ __typename: 'FeedItemRemoved', itemId: 'other', actionId: 'action-other' });
  await counts(6);
  total = 9;
  await client.emit({ __typename: 'FeedItemAdded', item: testItem('old', at(-9)) });
  await counts(9);
});

test('a list of a view asks for it by its name, without an order, and is another one than the feed', async () => {
  const client = createTestClient({ feed: () => ITEMS });
  const feed = new Reader({ client }).feed({ view: 'team', order: 'RECENT' });
  feed.use(() => undefined);
  await vi.waitFor(() => expect(feed.getSnapshot().items).toHaveLength(ITEMS.length));
  expect(client.queries[0]).toEqual({ first: 25, view: 'team' });
  expect(keyOf({ view: 'team' })).not.toBe(keyOf({}));
});

test('equal options share a list, however they are written', () => {
  const reader = new Reader({ client: createTestClient({ feed: () => [] }) });
  expect(reader.feed({ filter: { tags: ['x'], refId: 'r' } })).toBe(
    reader.feed({ live: 'hold', filter: { refId: 'r', tags: ['x'] }, first: 25 }),
  );
  expect(keyOf({ first: 5 })).not.toBe(keyOf({}));
});

test('the end of the connection is reported, and a retry starts over', async () => {
  const client = createTestClient({ feed: () => ITEMS });
  const refused = new FeedClientError('FORBIDDEN', 'Not you');
  let isRefused = true;
  const onError = vi.fn();
  const reader = new Reader({
    client: { ...client, watch: (options) => (isRefused ? Promise.reject(refused) : client.watch(options)) },
    onError,
  });
  reader.feed({}).use(() => undefined);
  const ended = { state: 'ended', cause: refused, isLeader: true };
  await vi.waitFor(() => expect(reader.connection.getSnapshot()).toEqual(ended));
  expect(onError).toHaveBeenCalledWith(refused);
  isRefused = false;
  reader.connection.retryNow();
  await vi.waitFor(() => expect(reader.connection.getSnapshot().state).toBe('live'));
});

test('a comment that cannot be sent keeps its text, and is sent again with the same key', async () => {
  const keys: (string | null | undefined)[] = [];
  const { reader, ready } = settle({
    request: () => ({
      node: { interactions: { edges: [], pageInfo: { hasNextPage: false, endCursor: null } } },
    }),
    mutations: {
      addInteraction: ({ input }) => {
        keys.push(input.idempotencyKey);
        return Promise.reject(new Error('No'));
      },
    },
  });
  await ready();
  const comments = commentsOf(reader, 'action-b');
  await comments.send('Well done');
  const [draft] = comments.getSnapshot().drafts;
  expect(draft).toMatchObject({ text: 'Well done', error: new Error('No') });
  await comments.send(draft?.text ?? '', { ...(draft && { key: draft.key }) });
  expect(new Set(keys).size).toBe(1);
});

function pageOf(items: FanfareItem[]): FeedPage<FanfareItem> {
  return {
    edges: items.map((node) => ({ cursor: node.id, node })),
    pageInfo: { hasNextPage: false, endCursor: items.at(-1)?.id ?? null },
    unread: { count: 0, isExact: true },
    state: 'READY',
    liveCursor: 'live',
  };
}

test('retry repeats what failed: the list after a refresh, otherwise its next page', async () => {
  let fails = false;
  const next = { hasNextPage: true, endCursor: 'a' };
  const { client, feed, ready } = settle({
    feed: () =>
      fails ? Promise.reject(new Error('No')) : Promise.resolve({ ...pageOf(ITEMS), pageInfo: next }),
  });
  await ready();
  for (const [fail, isRefresh] of [
    [feed.refresh, true],
    [feed.loadMore, false],
  ] as const) {
    fails = true;
    await fail();
    expect(feed.getSnapshot().error?.message).toBe('No');
    fails = false;
    await feed.retry();
    expect(feed.getSnapshot().error).toBeNull();
    expect(client.queries.at(-1)?.after === undefined).toBe(isRefresh);
  }
});

test('a page that failed while the connection was lost is read again when it is back, and once', async () => {
  let fails = false;
  const next = { hasNextPage: true, endCursor: 'a' };
  const { client, feed, ready, live } = settle({
    feed: () =>
      fails ? Promise.reject(new Error('Away')) : Promise.resolve({ ...pageOf(ITEMS), pageInfo: next }),
  });
  await ready();
  await live();
  client.connection('waiting');
  fails = true;
  await feed.loadMore();
  expect(feed.getSnapshot().error?.message).toBe('Away');
  fails = false;
  const asked = client.queries.length;
  client.connection('live');
  await vi.waitFor(() => expect(feed.getSnapshot().error).toBeNull());
  client.connection('live');
  expect(client.queries.slice(asked)).toEqual([expect.objectContaining({ after: 'a' })]);
});
