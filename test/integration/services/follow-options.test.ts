import { describe, expect, test } from 'vitest';
import type { FollowInput } from '../../../src/core/shapes.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { watching } from '../../support/watching.ts';

const refs = [{ id: 'site', type: 'site', label: 'Site' }];
const ANN = { followerId: 'ann', refId: 'site' };
const LONG_AGO = new Date(Date.UTC(2026, 0, 1));

const DESCRIPTORS = {
  Custom: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
  NewApplicant: {
    newApplicant: { applicantId: 'a', applicantName: 'A', positionId: 'p', positionName: 'P' },
  },
};

async function published(
  parts: Parts,
  type: keyof typeof DESCRIPTORS,
  more: Partial<Parameters<Parts['publish']>[0]> = {},
): Promise<string> {
  const { action } = await parts.publish({ refs, descriptor: DESCRIPTORS[type], ...more });
  return action.id;
}

async function sync(parts: Parts, ...pairs: FollowInput[]): Promise<void> {
  await parts.services.followMany(parts.service, pairs);
}

async function followed(
  parts: Parts,
): Promise<{ types: readonly string[] | undefined; isAssigned: boolean }> {
  const [follow] = await parts.repositories.follows.find('ann', ['site']);
  return { types: follow?.spans.at(-1)?.types, isAssigned: follow?.isAssigned === true };
}

test('a follow has at most 200 spans; then beginning again or changing types is rejected', async () => {
  await using parts = await openParts();
  const { services, service, session } = parts;
  const ann = session('ann');
  const types = (n: number): string[] => [n % 2 === 0 ? 'Custom' : 'NewApplicant'];
  // One after the other; what a follow has is as large as it gets.
  for (let n = 0; n < 200; n += 1) await services.follow(ann, 'site', 0, types(n));
  const spans = async (): Promise<number | undefined> =>
    (await parts.repositories.follows.find('ann', ['site']))[0]?.spans.length;
  expect(await spans()).toBe(200);
  const full = { code: 'CONFLICT', message: expect.stringContaining('keepHistory: false') as unknown };
  await expect(services.follow(ann, 'site', 0, types(0))).rejects.toMatchObject(full);
  const others = { followerId: 'bob', refId: 'site' };
  await expect(services.followMany(service, [others, { ...ANN, types: types(0) }])).rejects.toMatchObject(
    full,
  );
  expect(await parts.repositories.follows.find('bob', ['site'])).toEqual([]);
  // What opens no span is as before.
  await services.follow(ann, 'site', 10, types(1));
  await services.followMany(service, [{ ...ANN, isAssigned: true }, others]);
  await services.unfollow(ann, 'site', true);
  await expect(services.follow(ann, 'site', 0)).rejects.toMatchObject(full);
  expect(await spans()).toBe(200);
  await services.unfollow(ann, 'site', false);
  await services.follow(ann, 'site', 0, types(0));
  expect(await spans()).toBe(1);
});

describe('the types of a follow', () => {
  test.each(['items', 'pull'].map((model) => ({ model })))(
    'restrict later actions, and keep earlier ones ($model)',
    async (options) => {
      await using parts = await openParts(options);
      const ann = parts.session('ann');
      await parts.services.follow(ann, 'site', 0, ['NewApplicant']);
      const first = await published(parts, 'NewApplicant');
      await published(parts, 'Custom');
      await parts.fanOut();
      expect(await parts.feedOf('ann')).toEqual([first]);
      await parts.services.follow(ann, 'site', 0, ['Custom']);
      await published(parts, 'NewApplicant');
      const second = await published(parts, 'Custom');
      await parts.fanOut();
      expect(await parts.feedOf('ann')).toEqual([second, first]);
      await parts.services.follow(ann, 'site', 0, null);
      const third = await published(parts, 'NewApplicant');
      await parts.fanOut();
      await parts.services.rebuildFeed(parts.admin, 'ann');
      await parts.fanOut();
      expect(await parts.feedOf('ann')).toEqual([third, second, first]);
      const [ref] = await parts.repositories.refs.findByIds(['site']);
      expect(ref?.followerCount).toBe(1);
    },
  );

  test('restrict what a copy limit counts, including existing ones if none are given', async () => {
    await using parts = await openParts();
    const ids = [];
    for (const type of ['Custom', 'NewApplicant', 'Custom', 'NewApplicant', 'NewApplicant'] as const)
      ids.push(await published(parts, type));
    const [oldest, , newer] = ids;
    const ann = parts.session('ann');
    await parts.services.follow(ann, 'site', 1, ['Custom']);
    expect(await parts.feedOf('ann')).toEqual([newer]);
    await parts.services.follow(ann, 'site', 2);
    expect(await parts.feedOf('ann')).toEqual([newer, oldest]);
    await parts.services.follow(ann, 'site', 2, null);
    expect(await parts.feedOf('ann')).toEqual([...ids.slice(-2).reverse(), newer, oldest]);
  });

  test('stay if a sync does not mention them, and are all types after an end', async () => {
    await using parts = await openParts();
    await parts.services.follow(parts.session('ann'), 'site', 0, ['NewApplicant', 'Custom', 'Custom']);
    expect(await followed(parts)).toEqual({ types: ['Custom', 'NewApplicant'], isAssigned: false });
    await sync(parts, ANN);
    await sync(parts, { ...ANN, types: ['NewApplicant', 'Custom'] });
    expect((await parts.repositories.follows.find('ann', ['site']))[0]?.spans).toHaveLength(1);
    await sync(parts, { ...ANN, types: null });
    expect(await followed(parts)).toEqual({ types: undefined, isAssigned: false });
    await sync(parts, { ...ANN, types: ['Custom'], isAssigned: true });
    await sync(parts, { ...ANN, isAssigned: null });
    expect(await followed(parts)).toEqual({ types: ['Custom'], isAssigned: true });
    await parts.services.unfollow(parts.session('ann'), 'site', true);
    await sync(parts, ANN);
    expect(await followed(parts)).toEqual({ types: undefined, isAssigned: false });
  });

  test('are the last ones of a pair that is given twice', async () => {
    await using parts = await openParts();
    await parts.services.followMany(parts.service, [
      { ...ANN, types: ['NewApplicant'] },
      { ...ANN, types: ['Custom'] },
      { ...ANN, isAssigned: true },
    ]);
    expect(await followed(parts)).toEqual({ types: ['Custom'], isAssigned: true });
  });

  test('restrict only the feed', async () => {
    await using parts = await openParts();
    await sync(parts, { ...ANN, types: ['NewApplicant'] });
    const id = await published(parts, 'Custom', { scope: 'FOLLOWERS' });
    await parts.fanOut();
    const ann = parts.session('ann');
    expect(await parts.feedOf('ann')).toEqual([]);
    expect(await parts.services.getAction(ann, id)).toMatchObject({ id });
    const slice = await parts.services.readSlice(parts.session('ann'), 'site', {});
    expect(slice.edges.map(({ node }) => node.id)).toEqual([id]);
    const why = await parts.services.explainFeedItem(parts.session('ann'), id, null);
    expect(why).toMatchObject({ isInFeed: false, isEntitled: true, withheldBy: ['NOT_ADDRESSED'] });
  });

  test('apply to reshares of a member, everywhere', async () => {
    await using parts = await openParts();
    const fans = [
      { followerId: 'ann', refId: 'bob', types: ['NewApplicant'] },
      { followerId: 'cid', refId: 'bob', types: ['Custom'] },
    ];
    await sync(parts, ...fans);
    const id = await published(parts, 'Custom', { scope: 'PUBLIC', conducted: LONG_AGO });
    await parts.services.addInteraction(parts.session('bob'), { actionId: id, kind: 'RESHARE' });
    await parts.fanOut();
    expect([await parts.feedOf('ann'), await parts.feedOf('cid')]).toEqual([[], [id]]);
    await parts.services.follow(parts.session('ann'), 'bob', 100, ['NewApplicant']);
    expect(await parts.feedOf('ann')).toEqual([]);
    await parts.services.rebuildFeed(parts.admin, 'ann');
    await parts.fanOut();
    expect(await parts.feedOf('ann')).toEqual([]);
  });
});

describe('an assigned follow', () => {
  const COMMENTED = new Date(Date.UTC(2026, 0, 21));
  /** Moved by a tenth of twenty days. */
  const BARELY = new Date(Date.UTC(2026, 0, 3));

  async function commented(parts: Parts): Promise<string> {
    const id = await published(parts, 'Custom', { scope: 'PUBLIC', conducted: LONG_AGO });
    await parts.fanOut();
    const comment = { actionId: id, kind: 'COMMENT', actorId: 'bob', at: COMMENTED } as const;
    await parts.services.addInteraction(parts.session('service', 'service'), comment);
    await parts.fanOut();
    return id;
  }

  async function place(parts: Parts, actionId: string): Promise<Date | undefined> {
    return (await parts.services.getNewsfeedItem(parts.session('ann'), actionId))?.relevancy;
  }

  test.each(['items', 'pull'].map((model) => ({ model })))(
    'boosts its actions to the top, and lowers them when it ends ($model)',
    async (options) => {
      await using parts = await openParts(options);
      await sync(parts, { ...ANN, isAssigned: true });
      const id = await commented(parts);
      expect(await place(parts, id)).toEqual(COMMENTED);
      await parts.services.unfollow(parts.session('ann'), 'site', true);
      await parts.fanOut();
      expect(await place(parts, id)).toEqual(BARELY);
      await sync(parts, { ...ANN, isAssigned: true });
      await parts.fanOut();
      expect(await place(parts, id)).toEqual(COMMENTED);
      await sync(parts, { ...ANN, isAssigned: false });
      await parts.fanOut();
      expect(await place(parts, id)).toEqual(BARELY);
      await sync(parts, { ...ANN, isAssigned: true });
      await parts.services.unfollowMany(parts.service, [ANN], true);
      await parts.fanOut();
      expect(await place(parts, id)).toEqual(BARELY);
    },
  );

  test('makes watchers query the feed again, and nobody else', async () => {
    await using parts = await openParts();
    await sync(parts, ANN, { followerId: 'cid', refId: 'site' });
    const id = await commented(parts);
    await using ann = await watching(parts.services, parts.session('ann').identity, {});
    await using cid = await watching(parts.services, parts.session('cid').identity, {});
    await sync(parts, { ...ANN, isAssigned: true });
    // Of what the follow holds already it is notified first: where it stands now.
    let event = await ann.next();
    if (event.kind === 'updated') event = await ann.next();
    expect(event).toMatchObject({ kind: 'resync', reason: 'membership' });
    await parts.fanOut();
    await parts.services.addInteraction(parts.session('service', 'service'), {
      actionId: id,
      kind: 'LIKE',
      actorId: 'dan',
    });
    await parts.fanOut();
    const notified = await cid.next();
    expect(notified).toMatchObject({ kind: 'updated', item: { actionId: id } });
  });

  test('ends when the followed member is erased', async () => {
    await using parts = await openParts();
    await sync(parts, { followerId: 'ann', refId: 'actor', isAssigned: true });
    const id = await commented(parts);
    expect(await place(parts, id)).toEqual(COMMENTED);
    expect(await parts.services.eraseMember(parts.admin, 'actor')).toBe(true);
    await parts.fanOut();
    expect(await place(parts, id)).toEqual(BARELY);
  });
});
