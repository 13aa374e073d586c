import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import { commandsOf } from '../../support/commands.ts';
import { openLiveList } from '../../support/live-list.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const ann = (parts: Parts) => parts.session('ann');

async function published(parts: Parts, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++)
    ids.push((await parts.publish({ scope: 'PUBLIC', mentions: ['ann', 'bob'] })).action.id);
  await parts.fanOut();
  return ids;
}

async function listed(parts: Parts, args: object = {}): Promise<string[]> {
  const { edges } = await parts.services.readFeed(ann(parts), { first: 100, ...args });
  return edges.map(({ node }) => node.actionId);
}

const ARCHIVED = { filter: { archived: true } };

test('archived items leave the feed for their own list, and a bump does not bring them back', async () => {
  await using parts = await openParts();
  const [a = '', b = '', c = ''] = await published(parts, 3);
  for (const id of [a, c]) {
    await parts.services.archiveFeedItem(ann(parts), id);
    expect(await parts.services.getNewsfeedItem(ann(parts), id)).toMatchObject({
      actionId: id,
      state: 'ARCHIVED',
    });
  }
  expect(await listed(parts)).toEqual([b]);
  expect(await listed(parts, ARCHIVED)).toEqual([c, a]);
  expect(await parts.services.countUnread(ann(parts))).toEqual({ count: 1, isExact: true });
  expect((await parts.services.readFeed(parts.session('bob'), {})).edges).toHaveLength(3);
  await parts.services.addInteraction(parts.session('bob'), { actionId: a, kind: 'COMMENT' });
  await parts.fanOut();
  expect(await listed(parts)).toEqual([b]);
  expect(await listed(parts, ARCHIVED)).toEqual([a, c]);
  await parts.services.unarchiveFeedItem(ann(parts), a);
  expect(await parts.services.getNewsfeedItem(ann(parts), a)).toMatchObject({ state: null });
  expect(await listed(parts)).toEqual([a, b]);
  expect(await listed(parts, { ...ARCHIVED, first: 1 })).toEqual([c]);
});

test('the list of archived items is read page by page, without a gap and without a repetition', async () => {
  await using parts = await openParts();
  const ids = await published(parts, 5);
  for (const id of ids) await parts.services.archiveFeedItem(ann(parts), id);
  const read: string[] = [];
  for (let after: string | null = null, hasNextPage = true; hasNextPage;) {
    const page = await parts.services.readFeed(ann(parts), { ...ARCHIVED, first: 2, after });
    read.push(...page.edges.map(({ node }) => node.actionId));
    ({ end: after, hasMore: hasNextPage } = page);
  }
  expect(read).toEqual(ids.toReversed());
});

test('hidden and archived are one state: setting one replaces the other, and undoing one keeps the other', async () => {
  await using parts = await openParts();
  const [a = '', b = ''] = await published(parts, 2);
  const hidden = async (): Promise<string[]> =>
    (await parts.services.readHiddenItems(ann(parts), {})).edges.map(({ node }) => node.id);
  await parts.services.archiveFeedItem(ann(parts), a);
  await parts.services.hideFeedItem(ann(parts), a);
  await parts.services.hideFeedItem(ann(parts), b);
  expect([await hidden(), await listed(parts, ARCHIVED)]).toEqual([[b, a], []]);
  await parts.services.unarchiveFeedItem(ann(parts), a);
  expect(await hidden()).toEqual([b, a]);
  await parts.services.archiveFeedItem(ann(parts), a);
  await parts.services.unhideFeedItem(ann(parts), a);
  expect([await hidden(), await listed(parts, ARCHIVED), await listed(parts)]).toEqual([[b], [a], []]);
});

test('archives at most ten thousand items', async () => {
  await using parts = await openParts();
  const [a = '', b = ''] = await published(parts, 2);
  await parts.services.archiveFeedItem(ann(parts), a);
  const at = new Date();
  await parts.database.collections.itemMarks.insertMany(
    Array.from({ length: 9_999 }, () => ({
      _id: { userId: 'ann', actionId: new ObjectId() },
      state: 'ARCHIVED' as const,
      at,
    })),
  );
  await expect(parts.services.archiveFeedItem(ann(parts), b)).rejects.toMatchObject({ code: 'CONFLICT' });
  await parts.services.archiveFeedItem(ann(parts), a);
  await parts.services.hideFeedItem(ann(parts), b);
});

test('single items are read and unread whatever the read mark says, in every count and list', async () => {
  await using parts = await openParts();
  const [a = '', b = '', c = '', d = ''] = await published(parts, 4);
  const unread = async (): Promise<string[]> => {
    const page = await parts.services.readFeed(ann(parts), { first: 1, withUnread: true });
    const only = await listed(parts, { filter: { unreadOnly: true } });
    const expected = { count: only.length, isExact: true };
    expect(await page.countUnread()).toEqual(expected);
    expect(await parts.services.countUnread(ann(parts))).toEqual(expected);
    const first = await parts.services.findFirstUnread(ann(parts));
    expect(first?.item.actionId).toBe(only.at(-1));
    for (const first of [1, 2]) expect(await paged(parts, first)).toEqual(only);
    return only;
  };
  await parts.services.markItemsRead(ann(parts), [b, d]);
  expect(await unread()).toEqual([c, a]);
  await parts.services.markFeedRead(ann(parts), clock.now());
  expect(await unread()).toEqual([]);
  await parts.services.markItemsUnread(ann(parts), [a, d, a]);
  expect(await unread()).toEqual([d, a]);
  const [e = ''] = await published(parts, 1);
  expect(await unread()).toEqual([e, d, a]);
  await parts.services.markItemsRead(ann(parts), [d, e]);
  expect(await unread()).toEqual([a]);
  await parts.services.addInteraction(parts.session('bob'), { actionId: e, kind: 'COMMENT' });
  await parts.fanOut();
  expect(await unread()).toEqual([e, a]);
});

test('an item marked as read is unread again after every bump, also an old one that rises by little', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const conducted = new Date(Date.now() - 21 * 86_400_000);
  const { id } = (await parts.publish({ scope: 'PUBLIC', mentions: ['bob'], refs: [], conducted })).action;
  await services.follow(ann(parts), 'actor', 10);
  await parts.fanOut();
  const isUnread = async (): Promise<unknown> => (await services.getNewsfeedItem(ann(parts), id))?.isUnread;
  for (const [n, kind] of (['COMMENT', 'RESHARE', 'COMMENT'] as const).entries()) {
    await services.markItemsRead(ann(parts), [id]);
    expect(await isUnread()).toBe(false);
    await services.addInteraction(parts.session(`by-${String(n)}`), { actionId: id, kind });
    await parts.fanOut();
    expect(await isUnread()).toBe(true);
  }
  // Not in the feed, it is read with all that has happened to it.
  await services.unfollow(ann(parts), 'actor', false);
  await services.markItemsRead(ann(parts), [id]);
  await services.follow(ann(parts), 'actor', 10);
  await parts.fanOut();
  expect(await isUnread()).toBe(false);
});

async function paged(parts: Parts, size: number): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<Parts['services']['readFeed']>> = await parts.services.readFeed(
      ann(parts),
      {
        first: size,
        after,
        filter: { unreadOnly: true },
      },
    );
    ids.push(...page.edges.map(({ node }) => node.actionId));
    if (!page.hasMore) return ids;
    after = page.end;
  }
}

test('marks at most a hundred items at once, a thousand as unread, and none if one is invisible', async () => {
  await using parts = await openParts();
  const [a = ''] = await published(parts, 1);
  const unseen = (await parts.publish({ scope: 'RESTRICTED', recipients: ['bob'] })).action.id;
  const { services } = parts;
  for (const ids of [[], Array.from({ length: 101 }, () => a)])
    await expect(services.markItemsRead(ann(parts), ids)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  for (const id of [unseen, 'f'.repeat(24)])
    await expect(services.markItemsUnread(ann(parts), [a, id])).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await parts.database.collections.itemMarks.countDocuments()).toBe(0);
  await parts.database.collections.itemMarks.insertMany(
    Array.from({ length: 1_000 }, () => ({
      _id: { userId: 'ann', actionId: new ObjectId() },
      isUnread: true as const,
    })),
  );
  await expect(services.markItemsUnread(ann(parts), [a])).rejects.toMatchObject({ code: 'CONFLICT' });
});

test('watchers of the feed and of the archive have what is listed there', async () => {
  await using parts = await openParts();
  const [a = '', b = ''] = await published(parts, 2);
  const { identity } = ann(parts);
  await using feed = await openLiveList(parts, identity);
  await using archive = await openLiveList(parts, identity, ARCHIVED);
  await using unread = await openLiveList(parts, identity, { filter: { unreadOnly: true } });
  const agree = async (): Promise<void> => {
    for (const [list, args] of [
      [feed, {}],
      [archive, ARCHIVED],
      [unread, { filter: { unreadOnly: true } }],
    ] as const) {
      await list.caughtUp();
      expect(new Set(list.shown.keys())).toEqual(new Set(await listed(parts, args)));
    }
  };
  await parts.services.archiveFeedItem(ann(parts), a);
  await agree();
  await parts.services.addInteraction(parts.session('bob'), { actionId: a, kind: 'COMMENT' });
  await parts.fanOut();
  await agree();
  await parts.services.archiveFeedItem(ann(parts), b);
  await parts.services.unarchiveFeedItem(ann(parts), a);
  await agree();
  await parts.services.hideFeedItem(ann(parts), b);
  await agree();
  for (const isUnread of [false, true]) {
    await parts.services[isUnread ? 'markItemsUnread' : 'markItemsRead'](ann(parts), [a]);
    await agree();
    expect(feed.shown.get(a)?.isUnread).toBe(isUnread);
  }
  const before = feed.events.length;
  await parts.services.bookmark(ann(parts), a);
  await parts.services.unbookmark(ann(parts), a);
  await agree();
  expect(feed.events.slice(before).filter(({ kind }) => kind === 'updated')).toHaveLength(2);
  expect(feed.events.map(({ kind }) => kind)).toContain('added');
  expect([...feed.resyncs, ...unread.resyncs]).toEqual([]);
});

test('a page costs one more query for a reader with marks on items, and nothing more for others', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const [a = ''] = await published(parts, 3);
  const costs = async (): Promise<string[]> => {
    const session = ann(parts);
    await session.profile();
    const commands = await commandsOf(parts.database, () => parts.services.readFeed(session, {}));
    return commands.map(({ name, collection }) => `${name} ${collection}`).sort();
  };
  await listed(parts);
  expect(await costs()).toEqual(['aggregate feeds']);
  await parts.services.markItemsRead(ann(parts), [a]);
  expect(await costs()).toEqual(['aggregate feeds', 'find itemMarks']);
});
