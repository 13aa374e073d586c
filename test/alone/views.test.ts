import { beforeAll, expect, test } from 'vitest';
import { checkHostConfig, defineConfig } from '../../src/descriptors/host-config.ts';
import { buildSchema } from '../../src/app/schema.ts';
import { useDescriptors } from '../../src/descriptors/registry.ts';
import { countUnreadOfViews } from '../../src/feed/groups/view-counts.ts';
import { checkViews } from '../../src/feed/page/views.ts';
import { runOperation } from '../../src/graphql/run-operation.ts';
import { clock } from '../../src/lib/clock.ts';
import { startTestApp } from '../support/app.ts';
import { commandsOf } from '../support/commands.ts';
import { CLIENT_TRANSPORTS, clientOf, isLive, startWatch } from '../support/client-watches.ts';
import { ask, publish } from '../support/feed-api.ts';
import { openParts, type Parts } from '../support/parts.ts';
import { watching } from '../support/watching.ts';

const VIEWS = ['forMe', 'quiet', 'recent', 'grouped', 'uncounted', 'archive', 'all'] as const;
type ViewName = (typeof VIEWS)[number];

beforeAll(() => {
  const label = { en: 'View', de: 'Ansicht' };
  const views = {
    forMe: { label: { en: 'For me', de: 'Für mich' }, filter: { reasons: ['RECIPIENT'] }, ownReadMark: true },
    quiet: { label, filter: { not: { actorIds: ['loud'], types: ['Liked'], reasons: ['MENTION'] } } },
    recent: { label, filter: { types: ['Posted', 'Liked'] }, order: 'RECENT', window: '1d' },
    grouped: { label, filter: { types: ['Liked'] }, grouped: true },
    uncounted: { label, counts: false },
    archive: { label, filter: { archived: true } },
    all: { label },
  } satisfies Record<ViewName, object>;
  useDescriptors(checkHostConfig(defineConfig({ views }), 'test/alone/views.test.ts'));
  checkViews();
});

const HOUR = 3_600_000;

interface Written {
  readonly actorId: string;
  readonly type: 'posted' | 'liked';
  readonly hoursAgo: number;
  readonly toAnn?: true;
  readonly mentionsAnn?: true;
  readonly on?: string;
}

const WRITTEN: readonly Written[] = [
  { actorId: 'bob', type: 'posted', hoursAgo: 40 },
  { actorId: 'bob', type: 'liked', hoursAgo: 30, on: 'x' },
  { actorId: 'loud', type: 'posted', hoursAgo: 20 },
  { actorId: 'bob', type: 'posted', hoursAgo: 10, mentionsAnn: true },
  // A group is of one day: whatever time it is, these two are of the same.
  { actorId: 'cid', type: 'liked', hoursAgo: 5, on: 'y' },
  { actorId: 'bob', type: 'liked', hoursAgo: 5, on: 'y' },
  { actorId: 'cid', type: 'posted', hoursAgo: 3, toAnn: true },
  { actorId: 'bob', type: 'posted', hoursAgo: 2 },
];

/** Ann's feed; each test reads it. Returns the ids in the order of `WRITTEN`. */
async function written(parts: Parts, all: readonly Written[] = WRITTEN): Promise<string[]> {
  const pairs = ['bob', 'cid', 'loud'].map((refId) => ({ followerId: 'ann', refId }));
  await parts.services.followMany(parts.service, pairs);
  const ids: string[] = [];
  const now = clock.time();
  for (const { actorId, type, hoursAgo, toAnn, mentionsAnn, on = 'z' } of all) {
    const { action } = await parts.publish({
      ...{ actorId, scope: toAnn ? 'RESTRICTED' : 'PUBLIC', recipients: toAnn ? ['ann'] : [] },
      ...{ mentions: mentionsAnn ? ['ann'] : [], conducted: new Date(now - hoursAgo * HOUR) },
      descriptor:
        type === 'posted' ? { posted: { postId: on } } : { liked: { objectType: 'post', objectId: on } },
    });
    ids.push(action.id);
  }
  await parts.fanOut();
  return ids;
}

const ann = (parts: Parts) => parts.session('ann');
const own = async (parts: Parts, view: string, more: object = {}): Promise<string[]> => {
  const { edges } = await parts.services.readFeed(ann(parts), { first: 50, view, ...more });
  return edges.map(({ node }) => node.actionId);
};
const exact = (count: number) => ({ count, isExact: true });
const countsOf = async (parts: Parts) => Object.fromEntries(await countUnreadOfViews(parts.core, ann(parts)));

test('a view has those items of the feed that pass its filter, in its order', async () => {
  await using parts = await openParts();
  const ids = await written(parts);
  const at = (...places: readonly number[]) => places.map((place) => ids[place]);
  expect(await own(parts, 'all')).toEqual(at(7, 6, 5, 4, 3, 2, 1, 0));
  expect(await own(parts, 'forMe')).toEqual(at(6));
  expect(await own(parts, 'quiet')).toEqual(at(7, 6, 0));
  expect(await own(parts, 'recent')).toEqual(at(7, 6, 5, 4, 3, 2));
  expect(await own(parts, 'archive')).toEqual([]);
  await parts.services.archiveFeedItem(ann(parts), ids[0] ?? '');
  expect(await own(parts, 'archive')).toEqual(at(0));
  expect(await own(parts, 'quiet')).toEqual(at(7, 6));
  // Narrowed further, also by the same condition.
  expect(await own(parts, 'recent', { filter: { types: ['Liked'] } })).toEqual(at(5, 4));
  expect(await own(parts, 'recent', { filter: { types: ['Custom'] } })).toEqual([]);
  expect(await own(parts, 'quiet', { filter: { not: { actorIds: ['bob'] } } })).toEqual(at(6));
});

test('the pages of a view make up the list, downwards and upwards, and its counts are of it', async () => {
  await using parts = await openParts();
  const ids = await written(parts);
  const list = [7, 6, 5, 4, 3, 2].map((place) => ids[place]);
  const page = async (args: object) => parts.services.readFeed(ann(parts), { view: 'recent', ...args });
  const down: string[] = [];
  for (let after: string | null = null; ;) {
    const { edges, hasMore, end } = await page({ first: 2, ...(after === null ? {} : { after }) });
    down.push(...edges.map(({ node }) => node.actionId));
    if (!hasMore) break;
    after = end;
  }
  expect(down).toEqual(list);
  const up: string[] = [];
  for (let before: string | null = null; ;) {
    const { edges, hasMore, end } = await page({ last: 4, ...(before === null ? {} : { before }) });
    up.unshift(...edges.map(({ node }) => node.actionId));
    if (!hasMore) break;
    before = end;
  }
  expect(up).toEqual(list);
  const counted = await page({ first: 2, withTotal: true, withUnread: true });
  expect([await counted.countTotal(), await counted.countUnread()]).toEqual([exact(6), exact(6)]);
});

test('the unread counts of all views come from one read, and are those of their own pages', async () => {
  await using parts = await openParts({ monitorCommands: true, cacheBytes: 0 });
  const ids = await written(parts);
  await parts.services.archiveFeedItem(ann(parts), ids[0] ?? '');
  const agreed = async () => {
    const counts = await countsOf(parts);
    expect(Object.keys(counts).sort()).toEqual(VIEWS.filter((view) => view !== 'uncounted').sort());
    for (const view of VIEWS) {
      if (view === 'uncounted') continue;
      const asked = { view, withUnread: true };
      const list =
        view === 'grouped'
          ? await parts.services.readFeedGroups(ann(parts), asked)
          : await parts.services.readFeed(ann(parts), asked);
      expect([view, await list.countUnread()]).toEqual([view, counts[view]]);
    }
    return counts;
  };
  expect(await agreed()).toMatchObject({
    forMe: exact(1),
    quiet: exact(2),
    recent: exact(6),
    grouped: exact(2),
    all: exact(7),
  });
  await parts.services.markFeedRead(ann(parts), new Date(clock.time() - 4 * HOUR));
  expect(await agreed()).toMatchObject({
    forMe: exact(1),
    quiet: exact(2),
    recent: exact(2),
    grouped: exact(0),
    all: exact(2),
  });
  await parts.services.markItemsUnread(ann(parts), [ids[4] ?? '']);
  expect(await agreed()).toMatchObject({
    recent: exact(3),
    // Its topmost item is read.
    grouped: exact(0),
    all: exact(3),
    archive: exact(0),
  });
  await parts.services.markFeedRead(ann(parts), clock.now());
  expect(await agreed()).toMatchObject({ forMe: exact(1), recent: exact(1), all: exact(1) });
});

test('counts of views that are part of the feed take the commands of one count', async () => {
  await using parts = await openParts({ monitorCommands: true, cacheBytes: 0 });
  await written(parts);
  await parts.services.readFeed(ann(parts), {});
  const names = async (work: () => Promise<unknown>) =>
    (await commandsOf(parts.database, work)).map(({ name, collection }) => `${name} ${collection}`);
  const one = await names(() => parts.services.countUnread(ann(parts)));
  const all = await names(() => countsOf(parts));
  // Groups are read on their own.
  expect(all.slice(0, one.length)).toEqual(one);
  expect(all.filter((name) => name === 'aggregate feeds')).toHaveLength(2);
});

test('a view that few of many items are in is counted by a read of its own', async () => {
  await using parts = await openParts();
  const many = Array.from({ length: 700 }, (_, n): Written => ({
    actorId: 'bob',
    type: 'posted',
    hoursAgo: 2 + n / 100,
  }));
  const few: readonly Written[] = [600, 650].map((_, n) => ({
    actorId: 'cid',
    type: 'liked',
    hoursAgo: 100 + n,
    toAnn: true,
  }));
  await written(parts, [...few, ...many]);
  expect((await countsOf(parts))['forMe']).toEqual(exact(2));
});

test('a view with a read mark of its own is read by that, and others by that of the feed', async () => {
  await using parts = await openParts();
  await written(parts);
  const unreadIn = async (view?: string) => {
    const { edges } = await parts.services.readFeed(ann(parts), { view });
    return edges.filter(({ node }) => node.isUnread).length;
  };
  expect([await unreadIn(), await unreadIn('forMe'), await unreadIn('quiet')]).toEqual([8, 1, 3]);
  await parts.services.markFeedRead(ann(parts), clock.now(), { view: 'forMe' });
  expect([await unreadIn(), await unreadIn('forMe'), await unreadIn('quiet')]).toEqual([8, 0, 3]);
  await parts.services.markFeedRead(ann(parts), new Date(0), { view: 'forMe' });
  expect(await unreadIn('forMe')).toBe(0);
  await parts.services.markFeedRead(ann(parts), clock.now(), { view: 'quiet' });
  expect([await unreadIn(), await unreadIn('forMe'), await unreadIn('quiet')]).toEqual([0, 0, 0]);
});

test('where the reader left off in a view is its oldest unread item, by the read mark of the view', async () => {
  await using parts = await openParts();
  const ids = await written(parts, [
    ...WRITTEN,
    { actorId: 'cid', type: 'posted', hoursAgo: 1, toAnn: true },
  ]);
  await parts.services.setItemState(ann(parts), ids[1] ?? '', 'ARCHIVED');
  const first = (view?: string) => parts.services.findFirstUnread(ann(parts), { view });
  const isAtFirstUnread = async (view: string): Promise<void> => {
    const { edges } = await parts.services.readFeed(ann(parts), { first: 50, view });
    const oldest = edges.findLastIndex(({ node }) => node.isUnread);
    const found = await first(view);
    expect([view, found?.item.actionId, found?.isExact]).toEqual([view, edges[oldest]?.node.actionId, true]);
    const { edges: from } = await parts.services.readFeed(ann(parts), {
      first: 50,
      view,
      after: found?.cursor,
    });
    expect(from.map(({ node }) => node)).toEqual(edges.slice(oldest).map(({ node }) => node));
  };
  const relevant = ['forMe', 'quiet', 'grouped', 'uncounted', 'archive', 'all'] satisfies ViewName[];
  for (const view of relevant) await isAtFirstUnread(view);
  const { item } = (await first('forMe')) ?? {};
  await parts.services.markFeedRead(ann(parts), item?.relevancy ?? clock.now(), { view: 'forMe' });
  await parts.services.markItemsUnread(ann(parts), [ids[0] ?? '']);
  for (const view of relevant) await isAtFirstUnread(view);
  expect((await first('forMe'))?.item.actionId).toBe(ids.at(-1));
  expect(await first('recent')).toBeNull();
  await parts.services.markFeedRead(ann(parts), clock.now());
  expect((await first('quiet'))?.item.actionId).toBe(ids[0]);
  expect([await first('grouped'), (await first('forMe'))?.item.actionId]).toEqual([null, ids.at(-1)]);
  await expect(
    parts.services.findFirstUnread(ann(parts), { view: 'quiet', listId: 'x' }),
  ).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
  });
  // A cursor of one list fits no other.
  const cursor = (await first('forMe'))?.cursor;
  await expect(own(parts, 'all', { after: cursor })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
});

test('a watcher of a view is sent what enters and leaves it, and how much of it is unread', async () => {
  await using parts = await openParts();
  const ids = await written(parts);
  const asked = { withUnread: true };
  await using quiet = await watching(parts.services, ann(parts).identity, { ...asked, view: 'quiet' });
  await using mine = await watching(parts.services, ann(parts).identity, { ...asked, view: 'forMe' });
  const { action: loud } = await parts.publish({ actorId: 'loud', scope: 'PUBLIC' });
  await parts.fanOut();
  const { action } = await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
  await parts.fanOut();
  // Nothing is sent of the loud one.
  expect(await quiet.next()).toMatchObject({ kind: 'added', item: { actionId: action.id } });
  expect((await quiet.unread()).unread).toEqual(exact(4));
  // An edit that mentions Ann takes it out of the view.
  await parts.services.updateAction(parts.session('bob'), action.id, { mentions: ['ann'] });
  await parts.fanOut();
  expect(await quiet.next()).toMatchObject({ kind: 'removed', actionId: action.id });
  expect((await quiet.unread()).unread).toEqual(exact(3));
  await parts.services.markFeedRead(ann(parts), clock.now(), { view: 'forMe' });
  expect((await mine.unread()).unread).toEqual(exact(0));
  expect(await own(parts, 'quiet')).toEqual([7, 6, 0].map((place) => ids[place]));
  expect(await own(parts, 'all')).toContain(loud.id);
});

test('an explanation names the conditions of a view that an item does not meet', async () => {
  await using parts = await openParts();
  const ids = await written(parts);
  const why = async (place: number, view: ViewName) => {
    const id = ids[place] ?? '';
    const { isInFeed, leftOutBy } = await parts.services.explainFeedItem(ann(parts), id, null, { view });
    return { isInFeed, leftOutBy };
  };
  expect(await why(7, 'quiet')).toEqual({ isInFeed: true, leftOutBy: [] });
  expect(await why(2, 'quiet')).toEqual({ isInFeed: false, leftOutBy: ['not.actorIds'] });
  expect(await why(4, 'quiet')).toEqual({ isInFeed: false, leftOutBy: ['not.types'] });
  expect(await why(0, 'recent')).toEqual({ isInFeed: false, leftOutBy: ['window'] });
  expect(await why(3, 'forMe')).toEqual({ isInFeed: false, leftOutBy: ['reasons'] });
});

test('refuses an unknown view, an order beside a view, a cursor of another list, and groups that are not in order of relevancy', async () => {
  await using parts = await openParts();
  await written(parts);
  const read = (args: object) => parts.services.readFeed(ann(parts), args);
  const bad = { code: 'BAD_USER_INPUT' };
  await expect(read({ view: 'none' })).rejects.toMatchObject({
    ...bad,
    message: `There is no view "none": there are ${VIEWS.join(', ')}`,
  });
  await expect(read({ view: 'quiet', order: 'RELEVANCY' })).rejects.toMatchObject(bad);
  await expect(read({ view: 'archive', filter: { snoozed: true } })).rejects.toMatchObject(bad);
  await expect(parts.services.readFeedGroups(ann(parts), { view: 'recent' })).rejects.toMatchObject(bad);
  await expect(parts.services.markFeedRead(ann(parts), clock.now(), { view: 'none' })).rejects.toMatchObject(
    bad,
  );
  const cursors = await Promise.all(
    [undefined, 'quiet', 'all'].map(async (view) => [view, (await read({ first: 1, view })).end] as const),
  );
  for (const [of, after] of cursors)
    for (const [view] of cursors) {
      if (view === of) expect((await read({ view, after })).edges).not.toEqual([]);
      else await expect(read({ view, after })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
    }
});

test('however often an operation asks for the counts, they are read together', async () => {
  await using parts = await openParts({ monitorCommands: true, cacheBytes: 0 });
  await written(parts);
  const schema = await buildSchema();
  const run = (aliases: number) => {
    const views = Array.from(
      { length: aliases },
      (_, n) => `v${String(n)}: viewer { views { unread { count } } }`,
    );
    return commandsOf(parts.database, async () => {
      const asked = {
        document: `{ ${views.join(' ')} }`,
        variables: {},
        locale: 'en',
        identity: ann(parts).identity,
      };
      const { errors } = await runOperation(schema, parts.core, asked, {
        isUnavailable: () => false,
        report: (error) => expect(error).toBeUndefined(),
      });
      expect(errors).toEqual([]);
    });
  };
  // The first read notes that there is such a reader.
  await run(1);
  expect(await run(5)).toHaveLength((await run(1)).length);
});

test('an order is given beside a view only if the client gives it', async () => {
  await using app = await startTestApp({ worker: false });
  const feed = (order: string) => `query ($view: String, $order: FeedOrder) {
    feed(view: $view${order}) { state } unordered: feed(order: $order) { state } }`;
  const asked = (query: string, variables = {}) =>
    ask(app, query, { view: 'all', ...variables }, { sub: 'ann' });
  const ready = { feed: { state: 'READY' }, unordered: { state: 'READY' } };
  expect(await asked(feed(''))).toEqual(ready);
  expect(await asked(feed(', order: $order'))).toEqual(ready);
  await expect(asked(feed(', order: RELEVANCY'))).rejects.toThrow('has an order of its own');
  await expect(asked(feed(', order: $order'), { order: 'RECENT' })).rejects.toThrow(
    'has an order of its own',
  );
});

test.each(CLIENT_TRANSPORTS)('the client reads and watches a view by %s', async (transport) => {
  await using app = await startTestApp();
  const service = { sub: 'service', roles: ['service'] as const };
  const pairs = ['bob', 'loud'].map((refId) => ({ followerId: 'ann', refId }));
  await ask(app, 'mutation ($pairs: [FollowInput!]!) { followMany(pairs: $pairs) }', { pairs }, service);
  const first = await publish(app, { actorId: 'bob' });
  await publish(app, { actorId: 'loud' });
  await app.idle();
  const client = await clientOf(app, 'ann', { transport });
  const { edges, unread } = await client.feed({ view: 'quiet' });
  expect([edges.map(({ node }) => node.action.id), unread]).toEqual([[first], exact(1)]);
  await using watch = startWatch(client, { view: 'quiet', unread: true });
  await watch.until(isLive);
  await publish(app, { actorId: 'loud' });
  await app.idle();
  const second = await publish(app, { actorId: 'bob' });
  await watch.until(({ events }) =>
    events.some((event) => event.__typename === 'UnreadCountChanged' && event.unread.count === 2),
  );
  expect(watch.added()).toEqual([second]);
  client.close();
});

test('faults of filters and orders of views are found at the start, with their places', () => {
  expect(() => checkViews([{ ...WRONG, name: 'wrong' }])).toThrow(
    /views\.wrong\.filter\.types\[0\]: Unknown type "Nothing"[^]*views\.wrong\.filter\.reasons\[0\]: [^]*views\.wrong\.order: Unknown order "BEST"; known are RELEVANCY, RECENT, TOP and \{ rank \}/,
  );
});

const WRONG = {
  ...{ label: new Map([['en', 'Wrong']]), filter: { types: ['Nothing'], reasons: ['WISH'] }, order: 'BEST' },
  ...{ rank: null, source: null, windowMs: null, isGrouped: false, isCounted: true, hasOwnReadMark: false },
};

test('the API offers the views of the configuration, in its order and in the language of the reader', async () => {
  await using app = await startTestApp({ worker: false });
  const { viewer } = await ask<{ viewer: { views: readonly object[] } }>(
    app,
    '{ viewer { views { name label(locale: "de-AT") isGrouped isRanked order unread { count isExact } } } }',
    {},
    { sub: 'ann' },
  );
  expect(viewer.views.slice(0, 5)).toEqual([
    {
      name: 'forMe',
      label: 'Für mich',
      isGrouped: false,
      isRanked: false,
      order: 'RELEVANCY',
      unread: exact(0),
    },
    {
      name: 'quiet',
      label: 'Ansicht',
      isGrouped: false,
      isRanked: false,
      order: 'RELEVANCY',
      unread: exact(0),
    },
    {
      name: 'recent',
      label: 'Ansicht',
      isGrouped: false,
      isRanked: false,
      order: 'RECENT',
      unread: exact(0),
    },
    {
      name: 'grouped',
      label: 'Ansicht',
      isGrouped: true,
      isRanked: false,
      order: 'RELEVANCY',
      unread: exact(0),
    },
    {
      ...{ name: 'uncounted', label: 'Ansicht', isGrouped: false, isRanked: false, order: 'RELEVANCY' },
      unread: { count: 0, isExact: false },
    },
  ]);
});
