import { expect, test } from 'vitest';
import { unfollowMany } from '../../../src/features/follow/unfollow.ts';
import { createRepositories } from '../../../src/app/repositories.ts';
import { Crash, crashingCollections } from '../../support/crashing.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { watching } from '../../support/watching.ts';
import { followDependencies } from '../../support/follow-calls.ts';

const ref = (id: string) => ({ id, type: 'site', label: id });
const PAIRS = ['ann', 'bob'].flatMap((followerId) =>
  ['site', 'other'].map((refId) => ({ followerId, refId })),
);

async function published(parts: Parts, refIds: readonly string[], more: object = {}): Promise<string> {
  const { action } = await parts.publish({ refs: refIds.map(ref), ...more });
  await parts.fanOut();
  return action.id;
}

async function counts(parts: Parts): Promise<Record<string, number>> {
  const found = await parts.repositories.refs.findByIds(['site', 'other', 'third']);
  return Object.fromEntries(found.map(({ refId, followerCount }) => [refId, followerCount]));
}

/** Ann, Bob and Cid follow a site and another one. */
async function openScene(options: Parameters<typeof openParts>[0] = {}): Promise<Parts> {
  const parts = await openParts(options);
  const cid = ['site', 'other'].map((refId) => ({ followerId: 'cid', refId }));
  await parts.services.followMany(parts.service, [...PAIRS, ...cid]);
  return parts;
}

test('ends later deliveries and keeps earlier ones', async () => {
  await using parts = await openScene();
  const before = await published(parts, ['site']);
  expect(await parts.services.unfollowMany(parts.service, PAIRS, true)).toBe(4);
  const after = await published(parts, ['site', 'other']);
  for (const reader of ['ann', 'bob']) expect(await parts.feedOf(reader)).toEqual([before]);
  expect(await parts.feedOf('cid')).toEqual([after, before]);
  expect(await counts(parts)).toEqual({ site: 1, other: 1 });
  expect(await parts.repositories.follows.unsettled(PAIRS)).toEqual([]);
});

test('removes what came only through these follows with their history, at once and for good', async () => {
  await using parts = await openScene();
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'third' }]);
  await published(parts, ['site']);
  const mentioned = await published(parts, ['other'], { mentions: ['ann'] });
  const also = await published(parts, ['site', 'third']);
  await parts.services.unfollowMany(parts.service, PAIRS, false);
  const expectFeeds = async (): Promise<void> => {
    expect(await parts.feedOf('ann')).toEqual([also, mentioned]);
    expect(await parts.services.countUnread(parts.session('ann'))).toEqual({ count: 2, isExact: true });
    expect(await parts.feedOf('bob')).toEqual([]);
    expect(await parts.feedOf('cid')).toHaveLength(3);
  };
  await expectFeeds();
  await parts.fanOut();
  await expectFeeds();
  const { follows } = parts.database.collections;
  const newsfeedItems = parts.database.db.collection('newsfeedItems');
  expect(await newsfeedItems.countDocuments({ userId: { $in: ['ann', 'bob'] } })).toBe(2);
  expect(await follows.countDocuments()).toBe(3);
  expect(await counts(parts)).toEqual({ site: 1, other: 1, third: 1 });
});

test('removes the history of follows that had ended before', async () => {
  await using parts = await openScene();
  await published(parts, ['site']);
  await parts.services.unfollowMany(parts.service, PAIRS, true);
  await parts.services.unfollowMany(parts.service, PAIRS, false);
  expect(await parts.feedOf('ann')).toEqual([]);
  expect(await counts(parts)).toEqual({ site: 1, other: 1 });
  expect(await parts.database.collections.follows.countDocuments()).toBe(2);
});

test.each([true, false])(
  'changes nothing if nothing is followed, however often it is called (keep history: %s)',
  async (keepHistory) => {
    await using parts = await openScene();
    const strangers = ['site', 'other', 'nowhere'].map((refId) => ({ followerId: 'dan', refId }));
    for (let n = 0; n < 2; n += 1)
      expect(
        await parts.services.unfollowMany(parts.service, [...strangers, ...strangers], keepHistory),
      ).toBe(6);
    expect(await counts(parts)).toEqual({ site: 3, other: 3 });
    expect(await parts.repositories.feedRebuilds.countDue()).toBe(0);
    expect(await parts.services.unfollowMany(parts.service, [], keepHistory)).toBe(0);
  },
);

test('makes watchers query the feed again if something left it, and nobody else', async () => {
  await using parts = await openScene();
  await published(parts, ['site']);
  await using ann = await watching(parts.services, parts.session('ann').identity, {});
  await using cid = await watching(parts.services, parts.session('cid').identity, {});
  await parts.services.unfollowMany(parts.service, PAIRS, false);
  expect(await ann.next()).toMatchObject({ kind: 'resync', reason: 'membership' });
  const last = await published(parts, ['site']);
  expect(await cid.next()).toMatchObject({ kind: 'added', item: { actionId: last } });
});

test('sends nothing to watchers who keep everything', async () => {
  await using parts = await openScene();
  await published(parts, ['site']);
  await using ann = await watching(parts.services, parts.session('ann').identity, {});
  await parts.services.unfollowMany(parts.service, PAIRS, true);
  const last = await published(parts, ['site'], { mentions: ['ann'] });
  expect(await ann.next()).toMatchObject({ kind: 'added', item: { actionId: last, reasons: ['MENTION'] } });
});

test('is for services, and for a thousand pairs', async () => {
  await using parts = await openParts();
  const call = (identity: Parameters<typeof parts.services.unfollowMany>[0], pairs: readonly never[]) =>
    parts.services.unfollowMany(identity, pairs, true);
  await expect(call(parts.admin, [])).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await expect(
    call(parts.service, Array.from({ length: 1_001 }, () => ({ followerId: 'a', refId: 'b' })) as never[]),
  ).rejects.toMatchObject({ code: 'BAD_USER_INPUT', issues: [{ path: ['pairs'] }] });
  await expect(call(parts.service, [{ followerId: '', refId: 'b' }] as never[])).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    issues: [{ path: ['pairs', 0, 'followerId'] }],
  });
});

test.each([true, false])(
  'counts and shows correctly when it is interrupted after any write and repeated (keep history: %s)',
  async (keepHistory) => {
    let crashes = 0;
    for (let writes = 1; ; writes += 1) {
      await using parts = await openScene();
      const id = await published(parts, ['site']);
      const dying = followDependencies(
        parts,
        createRepositories(crashingCollections(parts.database.collections, writes)),
      );
      const isDone = await unfollowMany(dying, parts.service, PAIRS, keepHistory).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof Crash)) throw error;
          return false;
        },
      );
      if (isDone) break;
      crashes += 1;
      await parts.services.unfollowMany(parts.service, PAIRS, keepHistory);
      expect(await counts(parts)).toEqual({ site: 1, other: 1 });
      expect(await parts.repositories.follows.unsettled(PAIRS)).toEqual([]);
      await parts.fanOut();
      expect(await parts.feedOf('ann')).toEqual(keepHistory ? [id] : []);
    }
    expect(crashes).toBeGreaterThan(2);
  },
);

test('counts correctly while others follow and leave the same things', async () => {
  await using parts = await openScene();
  const many = Array.from({ length: 20 }, (_, n) => ({ followerId: `u${String(n % 5)}`, refId: 'site' }));
  await Promise.all(
    many.map(async (pair, n) => {
      await parts.services.followMany(parts.service, [pair]);
      if (n % 2 === 0) await parts.services.unfollowMany(parts.service, [pair, ...PAIRS], n % 4 === 0);
      else await parts.services.unfollow(parts.session(pair.followerId), 'site', n % 3 === 0);
    }),
  );
  for (const refId of ['site', 'other'])
    expect((await counts(parts))[refId]).toBe(await parts.repositories.follows.countFollowers(refId));
});
