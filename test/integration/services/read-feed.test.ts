import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { FeedPage } from '../../../src/core/shapes.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { revised } from '../../../src/storage/stages/revision.ts';

async function published(parts: Parts, count: number, more: object = {}): Promise<string[]> {
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'actor' }]);
  const outcomes = await parts.services.publishActions(
    parts.service,
    Array.from({ length: count }, (_, n) => ({
      actorId: 'actor',
      conducted: new Date(Date.UTC(2026, 0, 1, 0, Math.floor(n / 3))),
      descriptor: {
        custom: { verb: 'posted', objectType: 'post', objectId: String(n), tags: [`t${String(n % 4)}`] },
      },
      ...more,
    })),
  );
  await parts.fanOut();
  return outcomes.map((outcome) => outcome.action?.id ?? '').reverse();
}

async function pages(parts: Parts, first: number, filter: object = {}): Promise<FeedPage[]> {
  const read: FeedPage[] = [];
  for (;;) {
    const page: FeedPage = await parts.services.readFeed(parts.session('ann'), {
      first,
      filter,
      after: read.at(-1)?.end ?? null,
    });
    read.push(page);
    if (!page.hasMore) return read;
  }
}

const idsOf = (read: readonly FeedPage[]): string[] =>
  read.flatMap((page) => page.edges.map((edge) => edge.node.actionId));

async function hide(parts: Parts, ids: readonly (string | undefined)[]): Promise<void> {
  await parts.database.collections.actions.updateMany(
    { _id: { $in: ids.map((id) => new ObjectId(id)) } },
    revised({ $set: { isHidden: true } }),
  );
}

test('returns small pages that add up to one large page, including ties', async () => {
  await using parts = await openParts();
  const ids = await published(parts, 22);
  for (const first of [1, 3, 7, 21, 22, 23, 100]) {
    const read = await pages(parts, first);
    expect(idsOf(read)).toEqual(ids);
    expect(read.length).toBe(Math.ceil(22 / first));
    expect(read.slice(0, -1).every((page) => page.edges.length === first)).toBe(true);
  }
});

test('knows at the exact end of a page that there is no next one', async () => {
  await using parts = await openParts();
  await published(parts, 4);
  const page = await parts.services.readFeed(parts.session('ann'), { first: 4 });
  expect([page.edges.length, page.hasMore]).toEqual([4, false]);
});

test('is empty and ends for a reader without a feed', async () => {
  await using parts = await openParts();
  const page = await parts.services.readFeed(parts.session('nobody'), {});
  expect(page).toMatchObject({ edges: [], hasMore: false, end: null, state: 'READY' });
});

test('fills pages up if actions in the middle are invisible', async () => {
  await using parts = await openParts();
  const ids = await published(parts, 20);
  await hide(parts, ids.slice(3, 12));
  const shown = [...ids.slice(0, 3), ...ids.slice(12)];
  const read = await pages(parts, 5);
  expect(idsOf(read)).toEqual(shown);
  expect(read.map((page) => page.edges.length)).toEqual([5, 5, 1]);
});

test('promises no next page if everything that follows is invisible', async () => {
  await using parts = await openParts();
  const ids = await published(parts, 12);
  await hide(parts, ids.slice(5));
  const page = await parts.services.readFeed(parts.session('ann'), { first: 5 });
  expect([page.edges.length, page.hasMore]).toEqual([5, false]);
  await hide(parts, ids);
  expect(idsOf(await pages(parts, 5))).toEqual([]);
});

test('shows an action hidden or deleted after its fan-out to nobody, at once', async () => {
  await using parts = await openParts();
  const [newest, ...others] = await published(parts, 3);
  await hide(parts, [newest]);
  expect(await parts.feedOf('ann')).toEqual(others);
});

test("removes a team's actions from a member who leaves it, at once", async () => {
  await using parts = await openParts();
  const member = { memberId: 'ann', name: 'Ann' };
  await parts.services.upsertMembers(parts.service, [
    { memberId: 'actor', name: 'Actor', teamId: 't' },
    { ...member, teamId: 't' },
  ]);
  const { action } = await parts.publish({ scope: 'TEAM' });
  await parts.fanOut();
  expect(await parts.feedOf('ann')).toEqual([action.id]);
  await parts.services.upsertMembers(parts.service, [{ ...member, name: 'Ann B.', teamId: 't' }]);
  expect(await parts.feedOf('ann')).toEqual([action.id]);
  await parts.services.upsertMembers(parts.service, [{ ...member, teamId: null }]);
  expect(await parts.feedOf('ann')).toEqual([]);
  expect(await parts.services.getAction(parts.session('ann'), action.id)).toBeNull();
  await parts.services.upsertMembers(parts.service, [{ ...member, teamId: 't' }]);
  expect(await parts.feedOf('ann')).toEqual([]);
  expect(await parts.services.getAction(parts.session('ann'), action.id)).not.toBeNull();
});

test.each([
  [{ tags: ['t1'] }, (n: number) => n % 4 === 1],
  [{ types: ['Custom'] }, () => true],
  [{ types: ['ApplicationRating'] }, () => false],
  [{ actorIds: ['actor', 'other'] }, () => true],
  [{ actorIds: ['other'] }, () => false],
  [{ refId: 'actor' }, () => true],
  [{ refId: 'elsewhere' }, () => false],
  [{ since: new Date(Date.UTC(2026, 0, 1, 0, 2)) }, (n: number) => n >= 6],
  [{ until: new Date(Date.UTC(2026, 0, 1, 0, 2)) }, (n: number) => n < 6],
  [
    {
      since: new Date(Date.UTC(2026, 0, 1, 0, 1)),
      until: new Date(Date.UTC(2026, 0, 1, 0, 3)),
      tags: ['t0'],
    },
    (n: number) => n >= 3 && n < 9 && n % 4 === 0,
  ],
])('filters by %j, in pages of any size', async (filter, passes) => {
  await using parts = await openParts();
  const ids = await published(parts, 15);
  const expected = ids.filter((_, index) => passes(14 - index));
  for (const first of [1, 2, 100]) expect(idsOf(await pages(parts, first, filter))).toEqual(expected);
});

test('unread items depend on the mark, which only moves forward', async () => {
  await using parts = await openParts();
  const ids = await published(parts, 9);
  const session = () => parts.session('ann');
  expect(await parts.services.countUnread(session())).toEqual({ count: 9, isExact: true });
  await parts.services.markFeedRead(session(), new Date(Date.UTC(2026, 0, 1, 0, 1)));
  await parts.services.markFeedRead(session(), new Date(Date.UTC(2025, 0, 1)));
  const page = await parts.services.readFeed(session(), {});
  expect(page.edges.map((edge) => edge.node.isUnread)).toEqual(ids.map((_, index) => index < 3));
  expect(await parts.services.countUnread(session())).toEqual({ count: 3, isExact: true });
  expect(idsOf(await pages(parts, 2, { unreadOnly: true }))).toEqual(ids.slice(0, 3));
  await parts.services.markFeedRead(session(), new Date('9999-01-01'));
  expect(await parts.services.countUnread(session())).toEqual({ count: 0, isExact: true });
  await parts.publish({});
  await parts.fanOut();
  expect(await parts.services.countUnread(session())).toEqual({ count: 1, isExact: true });
});

test('counts unread items exactly up to a hundred', async () => {
  await using parts = await openParts();
  await published(parts, 100);
  expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 100, isExact: true });
  await parts.publish({});
  await parts.fanOut();
  expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 100, isExact: false });
});

test.each([0, -1, 101, 1.5, Number.NaN])('rejects a page size of %s', async (first) => {
  await using parts = await openParts();
  await expect(parts.services.readFeed(parts.session('ann'), { first })).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
  });
});

test("rejects another reader's cursor", async () => {
  await using parts = await openParts();
  await published(parts, 2);
  const { end: endCursor } = await parts.services.readFeed(parts.session('ann'), { first: 1 });
  await expect(parts.services.readFeed(parts.session('bob'), { after: endCursor })).rejects.toMatchObject({
    code: 'BAD_CURSOR',
  });
});
