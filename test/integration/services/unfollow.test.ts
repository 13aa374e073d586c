import { expect, test } from 'vitest';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const ref = (id: string) => ({ id, type: 'site', label: id });

async function followerCount(parts: Parts, refId: string): Promise<number | undefined> {
  const [found] = await parts.repositories.refs.findByIds([refId]);
  return found?.followerCount;
}

async function published(parts: Parts, refIds: readonly string[], more: object = {}): Promise<string> {
  const { action } = await parts.publish({ refs: refIds.map(ref), ...more });
  await parts.fanOut();
  return action.id;
}

test('ends later deliveries and keeps earlier ones', async () => {
  await using parts = await openParts();
  const ann = parts.session('ann');
  await parts.services.follow(ann, 'site', 0);
  const before = await published(parts, ['site']);
  const left = await parts.services.unfollow(parts.session('ann'), 'site', true);
  expect(left.followerCount).toBe(0);
  await published(parts, ['site']);
  expect(await parts.feedOf('ann')).toEqual([before]);
  expect(await parts.services.getAction(parts.session('ann'), before)).not.toBeNull();
});

test('opens a new span at the next follow: actions in between stay away', async () => {
  await using parts = await openParts();
  await parts.services.follow(parts.session('ann'), 'site', 0);
  const first = await published(parts, ['site']);
  await parts.services.unfollow(parts.session('ann'), 'site', true);
  await published(parts, ['site']);
  await parts.services.follow(parts.session('ann'), 'site', 0);
  const third = await published(parts, ['site']);
  expect(await parts.feedOf('ann')).toEqual([third, first]);
  expect(await followerCount(parts, 'site')).toBe(1);
});

test('removes exactly what came only through this follow with its history', async () => {
  await using parts = await openParts();
  await parts.services.follow(parts.session('ann'), 'site', 0);
  await parts.services.follow(parts.session('ann'), 'other', 0);
  await published(parts, ['site']);
  const both = await published(parts, ['site', 'other']);
  const mentioned = await published(parts, ['site'], { mentions: ['ann'] });
  await parts.services.unfollow(parts.session('ann'), 'site', false);
  const page = await parts.services.readFeed(parts.session('ann'), {});
  expect(page.edges.map((edge) => [edge.node.actionId, edge.node.reasons])).toEqual([
    [mentioned, ['MENTION']],
    [both, ['FOLLOW']],
  ]);
  expect(await parts.database.db.collection('newsfeedItems').countDocuments({ userId: 'ann' })).toBe(2);
  expect(await parts.database.collections.follows.countDocuments()).toBe(1);
});

test('removes the history of a follow that ended earlier', async () => {
  await using parts = await openParts();
  await parts.services.follow(parts.session('ann'), 'site', 0);
  await published(parts, ['site']);
  await parts.services.unfollow(parts.session('ann'), 'site', true);
  const left = await parts.services.unfollow(parts.session('ann'), 'site', false);
  expect(left.followerCount).toBe(0);
  expect(await parts.feedOf('ann')).toEqual([]);
});

test('never shows what a fan-out still delivers for a follow that was removed', async () => {
  await using parts = await openParts();
  await parts.services.follow(parts.session('ann'), 'site', 0);
  const { action } = await parts.publish({ refs: [ref('site')] });
  await parts.services.unfollow(parts.session('ann'), 'site', false);
  // As a worker would that had read the followers before.
  await parts.feedStore.deliver([
    {
      actionId: action.id,
      readers: [{ userId: 'ann', relevancy: action.latest, reasons: ['FOLLOW'] }],
      isFirstAttempt: true,
    },
  ]);
  expect(await parts.feedOf('ann')).toEqual([]);
  expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 0, isExact: true });
  expect(await parts.services.getNewsfeedItem(parts.session('ann'), action.id)).toBeNull();
});

test('changes nothing when nothing is followed, and counts once however often it is called', async () => {
  await using parts = await openParts();
  await parts.services.follow(parts.session('bob'), 'site', 0);
  for (const keepHistory of [true, false, true]) {
    const left = await parts.services.unfollow(parts.session('ann'), 'site', keepHistory);
    expect(left.followerCount).toBe(1);
  }
  await parts.services.unfollow(parts.session('bob'), 'site', true);
  await parts.services.unfollow(parts.session('bob'), 'site', true);
  expect(await followerCount(parts, 'site')).toBe(0);
});

test.each([true, false])(
  'completes an unfollow that was interrupted after its commit (keep history: %s)',
  async (keepHistory) => {
    await using parts = await openParts();
    await parts.services.follow(parts.session('ann'), 'site', 0);
    const id = await published(parts, ['site']);
    const pair = { followerId: 'ann', refId: 'site' };
    if (!keepHistory) await parts.repositories.feeds.markChecksFollows('ann');
    await parts.repositories.follows.close(pair, { now: new Date(), keepHistory, token: newObjectId() });
    expect(await followerCount(parts, 'site')).toBe(1);
    expect(await parts.feedOf('ann')).toEqual(keepHistory ? [id] : []);
    await parts.services.unfollow(parts.session('ann'), 'site', keepHistory);
    expect(await followerCount(parts, 'site')).toBe(0);
    expect(await parts.database.db.collection('newsfeedItems').countDocuments()).toBe(keepHistory ? 1 : 0);
    expect(await parts.repositories.follows.unsettled([pair])).toEqual([]);
  },
);

test('counts correctly when a follow comes after an interrupted unfollow', async () => {
  await using parts = await openParts();
  await parts.services.follow(parts.session('ann'), 'site', 0);
  const pair = { followerId: 'ann', refId: 'site' };
  await parts.repositories.follows.close(pair, { now: new Date(), keepHistory: true, token: newObjectId() });
  const ref = await parts.services.follow(parts.session('ann'), 'site', 0);
  expect(ref.followerCount).toBe(1);
});

test('counts correctly when many follow and unfollow at once', async () => {
  await using parts = await openParts();
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const session = () => parts.session(`u${String(n % 10)}`);
      await parts.services.follow(session(), 'site', 0);
      if (n % 3 > 0) await parts.services.unfollow(session(), 'site', n % 3 === 1);
    }),
  );
  expect(await followerCount(parts, 'site')).toBe(await parts.repositories.follows.countFollowers('site'));
});
