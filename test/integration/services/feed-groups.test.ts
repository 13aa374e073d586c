import { expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import type { FeedGroup } from '../../../src/core/shapes.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const DAY = Date.UTC(2024, 0, 10);
const HOUR_MS = 3_600_000;

/** Mentions Ann, so that it is in her feed by any actor. */
function about(objectId: string, actorId = 'bob', hour = 0): object {
  return {
    ...{ actorId, scope: 'PUBLIC', mentions: ['ann'], conducted: new Date(DAY + hour * HOUR_MS) },
    descriptor: { liked: { objectType: 'post', objectId } },
  };
}

async function published(parts: Parts, inputs: readonly object[]): Promise<string[]> {
  const outcomes = await parts.services.publishActions(parts.service, inputs as never);
  await parts.fanOut();
  return outcomes.map(({ action }) => action?.id ?? '');
}

async function shown(parts: Parts, args: object = {}): Promise<string[][]> {
  const { edges } = await parts.services.readFeedGroups(parts.session('ann'), args);
  return Promise.all(edges.map(({ node }) => idsOf(node)));
}

async function idsOf(group: FeedGroup): Promise<string[]> {
  return (await group.load(() => false)).map(({ actionId }) => actionId);
}

test('groups items of one type, with the same key and of the same day in UTC', async () => {
  await using parts = await openParts();
  const [a, b, c, d] = await published(parts, [
    about('p', 'bob', 0),
    about('p', 'cid', 23),
    about('p', 'dan', 24),
    about('q', 'eve', 12),
  ]);
  const [post] = await published(parts, [
    { ...about('', 'bob', 1), descriptor: { posted: { postId: 'p', text: 'x' } } },
  ]);
  expect(await shown(parts)).toEqual([[c], [b, a], [d], [post]]);
});

test('moves a group with its top item, and removes hidden, muted, archived and deleted items from it', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const ids = await published(parts, [
    about('p', 'bob', 0),
    about('p', 'cid', 1),
    about('p', 'dan', 2),
    about('q', 'eve', 3),
  ]);
  const [a = '', b = '', c = '', other = ''] = ids;
  expect(await shown(parts)).toEqual([[other], [c, b, a]]);
  await services.addInteraction(parts.session('bob'), { actionId: a, kind: 'COMMENT' });
  await parts.fanOut();
  expect(await shown(parts)).toEqual([[a, c, b], [other]]);
  await services.addMute(parts.session('ann'), { memberId: 'bob' });
  expect(await shown(parts)).toEqual([[other], [c, b]]);
  await services.archiveFeedItem(parts.session('ann'), c);
  expect(await shown(parts)).toEqual([[other], [b]]);
  expect(await shown(parts, { filter: { archived: true } })).toEqual([[c]]);
  await services.removeMute(parts.session('ann'), { memberId: 'bob' });
  await services.hideAction(parts.session('admin', 'admin'), b, null);
  expect(await shown(parts)).toEqual([[a], [other]]);
});

test('is exact for a group of any size, whatever part of it the reader may not see', async () => {
  await using parts = await openParts();
  const mine = await published(parts, [about('p', 'bob', 0), about('p', 'cid', 0)]);
  const others = Array.from({ length: 480 }, () => ({ ...about('p', 'dan', 1), mentions: ['bob'] }));
  await published(parts, others);
  const [last] = await published(parts, [about('q', 'eve', 0)]);
  const services = parts.services;
  const { edges, end: endCursor } = await services.readFeedGroups(parts.session('ann'), { first: 1 });
  expect(edges.map(({ node }) => node.relevancy)).toEqual([new Date(DAY)]);
  expect(await shown(parts)).toEqual([[last], [...mine].reverse()]);
  expect(await shown(parts, { first: 1, after: endCursor })).toEqual([[...mine].reverse()]);
  const bob = await services.readFeedGroups(parts.session('bob'), {});
  expect((await bob.edges[0]?.node.load(({ length }) => length > 1_000))?.length).toBe(480);
});

test('has the items of a group that lie deeper in the feed than the page reads at once', async () => {
  await using parts = await openParts();
  const [deep, rest] = [about('p', 'bob', 0), about('q', 'cid', 1)];
  const [lowest] = await published(parts, [deep, ...Array.from({ length: 499 }, () => rest)]);
  const elsewhere = Array.from({ length: 60 }, () => ({ ...about('p', 'dan', 2), mentions: ['eve'] }));
  const [top] = await published(parts, [about('p', 'bob', 3), ...elsewhere]);
  expect(await shown(parts, { first: 1 })).toEqual([[top, lowest]]);
});

test('does not show again what was bumped above the cursor', async () => {
  await using parts = await openParts();
  const [a = '', b, c] = await published(parts, [
    about('p', 'bob', 0),
    about('p', 'cid', 1),
    about('q', 'dan', 2),
  ]);
  const { edges, end: endCursor } = await parts.services.readFeedGroups(parts.session('ann'), { first: 1 });
  expect(await Promise.all(edges.map(({ node }) => idsOf(node)))).toEqual([[c]]);
  await parts.services.addInteraction(parts.session('bob'), { actionId: a, kind: 'COMMENT' });
  await parts.fanOut();
  expect(await shown(parts, { after: endCursor })).toEqual([]);
  expect(await shown(parts)).toEqual([[a, b], [c]]);
});

test('lists a group once while a reader pages, also if its top item is withdrawn meanwhile', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const ann = () => parts.session('ann');
  const admin = parts.session('admin', 'admin');
  // Two items in each of six groups, all of the second ones below all of the first.
  const low = [0, 1, 2, 3, 4, 5].map((n) => about(String(n), 'bob', n));
  const high = [0, 1, 2, 3, 4, 5].map((n) => about(String(n), `by-${String(n)}`, 12 + n));
  const tops = (await published(parts, [...low, ...high])).slice(6).reverse();
  const [archived = '', snoozed = '', moderated = '', deleted = ''] = tops;
  const { end: after } = await services.readFeedGroups(ann(), { first: 5 });
  await services.archiveFeedItem(ann(), archived);
  await services.snoozeFeedItem(ann(), snoozed, new Date(Date.now() + HOUR_MS));
  await services.hideAction(admin, moderated, null);
  await services.deleteAction(admin, deleted);
  await services.addMute(ann(), { memberId: 'by-1' });
  await parts.fanOut();
  const rest = await services.readFeedGroups(ann(), { after });
  expect(rest.edges.map(({ node }) => node.relevancy)).toEqual([new Date(DAY + 12 * HOUR_MS)]);
  expect(await shown(parts)).toHaveLength(6);
  // A cursor fits every filter; with another one they are other groups.
  expect(await shown(parts, { after, filter: { actorIds: ['bob'] } })).toHaveLength(6);
});

test('counts groups, and those whose top item is unread', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const ids = await published(parts, [about('p', 'bob', 0), about('p', 'cid', 1), about('q', 'dan', 2)]);
  const counts = async (args: object = {}): Promise<number[]> => {
    const page = await services.readFeedGroups(parts.session('ann'), args);
    return [(await page.countTotal()).count, (await page.countUnread()).count];
  };
  expect(await counts()).toEqual([2, 2]);
  await services.markItemsRead(parts.session('ann'), [ids[1] ?? '']);
  expect(await counts()).toEqual([2, 1]);
  await services.markFeedRead(parts.session('ann'), clock.now());
  expect(await counts()).toEqual([2, 0]);
  await services.markItemsUnread(parts.session('ann'), [ids[0] ?? '']);
  expect(await counts()).toEqual([2, 0]);
  expect(await counts({ filter: { unreadOnly: true } })).toEqual([1, 1]);
  await services.markItemsUnread(parts.session('ann'), [ids[1] ?? '']);
  expect(await counts({ first: 1 })).toEqual([2, 1]);
});

test('is found by its key by readers with an item in it, and by nobody else', async () => {
  await using parts = await openParts();
  await published(parts, [about('p', 'bob', 0), about('p', 'cid', 1)]);
  const { edges } = await parts.services.readFeedGroups(parts.session('ann'), {});
  const key = edges[0]?.node.groupKey ?? '';
  const found = await parts.services.getFeedGroup(parts.session('ann'), key);
  expect(found === null ? [] : await idsOf(found)).toHaveLength(2);
  expect(await parts.services.getFeedGroup(parts.session('bob'), key)).toBeNull();
  expect(await parts.services.getFeedGroup(parts.session('ann'), 'f'.repeat(24))).toBeNull();
});

test('rejects pages of other sizes, and cursors of other lists', async () => {
  await using parts = await openParts();
  await published(parts, [about('p'), about('q')]);
  const read = (args: object) => parts.services.readFeedGroups(parts.session('ann'), args);
  for (const first of [0, 51, -1])
    await expect(read({ first })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  const feed = await parts.services.readFeed(parts.session('ann'), { first: 1 });
  await expect(read({ after: feed.end })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
});

test('moves an edited item to its new group', async () => {
  await using parts = await openParts();
  const [a = '', b, c] = await published(parts, [about('p'), about('p'), about('q')]);
  await parts.services.updateAction(parts.session('admin', 'admin'), a, {
    descriptor: { liked: { objectType: 'post', objectId: 'q' } },
  });
  await parts.fanOut();
  expect(await shown(parts)).toEqual([[c, a], [b]]);
});
