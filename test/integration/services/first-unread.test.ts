import { expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import type { FeedPage } from '../../../src/core/shapes.ts';
import { seedActions } from '../../conformance/feed-tools.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const HOUR = 3_600_000;

/** Actions for Ann, an hour apart, oldest first; the ids in the same order. */
async function publish(parts: Parts, count: number): Promise<string[]> {
  const start = Date.now() - (count + 1) * HOUR;
  const outcomes = await parts.services.publishActions(
    parts.service,
    Array.from({ length: count }, (_, n) => ({
      actorId: n % 2 === 0 ? 'even' : 'odd',
      mentions: ['ann'],
      // In pairs of the same moment.
      conducted: new Date(start + Math.floor(n / 2) * 2 * HOUR),
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
    })),
  );
  await parts.fanOut();
  return outcomes.map((outcome) => outcome.action?.id ?? '');
}

async function pageFrom(parts: Parts, after: string): Promise<FeedPage> {
  return parts.services.readFeed(parts.session('ann'), { after, first: 100 });
}

async function firstUnread(parts: Parts): ReturnType<Parts['services']['findFirstUnread']> {
  return parts.services.findFirstUnread(parts.session('ann'));
}

test('jumps to the oldest unread item: the page from there starts with it and continues with read items', async () => {
  await using parts = await openParts();
  const ids = await publish(parts, 60);
  const newestFirst = await parts.feedOf('ann');
  const { edges } = await parts.services.readFeed(parts.session('ann'), { first: 100 });
  await parts.services.markFeedRead(parts.session('ann'), edges[40]?.node.relevancy ?? clock.now());
  const found = await firstUnread(parts);
  // Items of one moment are read together: 40 and 41 are a pair.
  expect(found?.item.actionId).toBe(newestFirst[39]);
  expect(found?.isExact).toBe(true);
  const page = await pageFrom(parts, found?.cursor ?? '');
  expect(page.edges.map((edge) => edge.node.actionId)).toEqual(newestFirst.slice(39));
  expect(page.edges.map((edge) => edge.node.isUnread)).toEqual([true, ...Array<boolean>(20).fill(false)]);
  expect(ids).toHaveLength(60);
});

test('is the last item for a reader who has read nothing, and null for one who has read everything', async () => {
  await using parts = await openParts();
  expect(await firstUnread(parts)).toBeNull();
  await publish(parts, 4);
  expect((await firstUnread(parts))?.item.actionId).toBe((await parts.feedOf('ann')).at(-1));
  await parts.services.markFeedRead(parts.session('ann'), clock.now());
  expect(await firstUnread(parts)).toBeNull();
});

test('skips items that the rules exclude, however many', async () => {
  await using parts = await openParts();
  await publish(parts, 120);
  await parts.services.addMute(parts.session('ann'), { memberId: 'even' });
  const feed = await parts.feedOf('ann');
  expect((await firstUnread(parts))?.item.actionId).toBe(feed.at(-1));
  await parts.services.addMute(parts.session('ann'), { memberId: 'odd' });
  expect(await firstUnread(parts)).toBeNull();
});

test('finds an item that was read and then bumped', async () => {
  await using parts = await openParts();
  const ids = await publish(parts, 6);
  // Not now: the comment gets its time by the clock of the database.
  const { edges } = await parts.services.readFeed(parts.session('ann'), { first: 1 });
  await parts.services.markFeedRead(parts.session('ann'), edges[0]?.node.relevancy ?? clock.now());
  await parts.services.addInteraction(parts.session('ann'), { actionId: ids[2] ?? '', kind: 'COMMENT' });
  await parts.fanOut();
  expect((await firstUnread(parts))?.item.actionId).toBe(ids[2]);
});

test('examines the newest thousand and says if there are more', async () => {
  await using parts = await openParts();
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'site' }]);
  await seedActions(parts, 1_002);
  await parts.services.rebuildFeed(parts.admin, 'ann');
  await parts.fanOut();
  const { isExact, cursor, item } = (await firstUnread(parts)) ?? { isExact: true, cursor: '', item: null };
  expect(isExact).toBe(false);
  const page = await pageFrom(parts, cursor);
  expect(page.edges[0]?.node.actionId).toBe(item?.actionId);
  expect(page.edges).toHaveLength(3);
});
