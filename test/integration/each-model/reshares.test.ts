import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { MAX_RESHARES, type Scope } from '../../../src/domain/action.ts';
import { resharedBy } from '../../../src/features/interactions/read-interactions.ts';
import { commandsOf } from '../../support/commands.ts';
import { openLiveList, type LiveList } from '../../support/live-list.ts';
import { openParts, type Parts, type PartsOptions } from '../../support/parts.ts';
import { someModels } from '../../support/some-models.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { revised } from '../../../src/storage/stages/revision.ts';

const SITE = { id: 'site', type: 'site', label: 'Site' };

/** Ann follows Bob, who follows nobody. An action of somebody else's is delivered. */
async function openScene(
  options: PartsOptions,
  scope: Scope = 'PUBLIC',
): Promise<{ readonly parts: Parts; readonly id: string }> {
  const parts = await openParts(options);
  const { services, service, session } = parts;
  await services.upsertMembers(service, [
    { memberId: 'actor', name: 'Actor', teamId: 't' },
    { memberId: 'bob', name: 'Bob', teamId: 't' },
    { memberId: 'ann', name: 'Ann' },
  ]);
  await services.follow(session('ann'), 'bob', 0);
  await services.follow(session('bob'), 'actor', 0);
  const { action } = await parts.publish({ scope, refs: [SITE], conducted: new Date(2020, 1, 1) });
  await parts.fanOut();
  for (const reader of ['ann', 'bob']) await parts.feedOf(reader);
  // A model may rebuild a feed after its first read.
  await parts.fanOut();
  return { parts, id: action.id };
}

async function reshare({ services, session }: Parts, by: string, id: string): Promise<Date> {
  const { interaction } = await services.addInteraction(session(by), { actionId: id, kind: 'RESHARE' });
  return interaction.at;
}

function takeBack({ services, session }: Parts, by: string, id: string): Promise<unknown> {
  return services.removeInteraction(session(by), { own: { actionId: id, kind: 'RESHARE' } });
}

interface Shown {
  readonly reasons: readonly string[];
  readonly resharedBy: readonly string[];
  readonly relevancy: Date;
}

/** The items of a feed, after all ways in have said the same. */
async function shownTo({ services, session }: Parts, userId: string): Promise<Shown[]> {
  const page = await services.readFeed(session(userId), { withUnread: true });
  const items = page.edges.map(({ node }) => node);
  const ids = items.map(({ actionId }) => actionId);
  expect((await page.countTotal()).count).toBe(ids.length);
  expect((await page.countUnread()).count).toBe(ids.length);
  expect((await services.countUnread(session(userId))).count).toBe(ids.length);
  const groups = await services.readFeedGroups(session(userId), {});
  expect(groups.edges).toHaveLength(ids.length);
  for (const order of ['RECENT', 'TOP'] as const) {
    const { edges } = await services.readFeed(session(userId), { order });
    expect(edges.map(({ node }) => node.actionId).sort()).toEqual([...ids].sort());
  }
  for (const id of ids)
    expect(await services.getNewsfeedItem(session(userId), id)).toMatchObject({ actionId: id });
  return Promise.all(
    items.map(async (item) => ({
      reasons: item.reasons,
      relevancy: item.relevancy,
      resharedBy: await resharedBy(session(userId), item),
    })),
  );
}

function kinds({ events }: LiveList, id: string): string[] {
  return events.flatMap((event) => {
    if (event.kind === 'removed') return event.actionId === id ? event.kind : [];
    return event.kind === 'added' || event.kind === 'updated' ? event.kind : [];
  });
}

test.each(someModels(0))(
  'a reshare delivers a public action to followers, until it is removed, and again, feeds stored by %s',
  async (model) => {
    const { parts, id } = await openScene({ model });
    await using _parts = parts;
    const { session } = parts;
    await using ann = await openLiveList(parts, session('ann').identity);
    expect(await shownTo(parts, 'ann')).toEqual([]);
    const at = await reshare(parts, 'bob', id);
    await parts.fanOut();
    const passedOn = [{ reasons: ['RESHARE'], resharedBy: ['bob'], relevancy: at }];
    expect(await shownTo(parts, 'ann')).toEqual(passedOn);
    await ann.caughtUp();
    expect(kinds(ann, id)).toEqual(['added']);
    // No worker runs.
    await takeBack(parts, 'bob', id);
    expect(await shownTo(parts, 'ann')).toEqual([]);
    expect(await parts.services.getNewsfeedItem(session('ann'), id)).toBeNull();
    await parts.fanOut();
    expect(await shownTo(parts, 'ann')).toEqual([]);
    await ann.caughtUp();
    expect(kinds(ann, id)).toEqual(['added', 'removed']);
    expect(await parts.feedStore.holders(id, { limit: 10 })).not.toContain('ann');
    await reshare(parts, 'bob', id);
    await parts.fanOut();
    expect(await shownTo(parts, 'ann')).toEqual(passedOn);
    await ann.caughtUp();
    expect([...ann.shown.keys()]).toEqual([id]);
  },
);

test.each(someModels(1))(
  'an action that is not public reaches nobody by a reshare, and one no longer public is gone at once, feeds stored by %s',
  async (model) => {
    const { parts, id } = await openScene({ model }, 'TEAM');
    await using _parts = parts;
    const { services, session } = parts;
    await reshare(parts, 'bob', id);
    await parts.fanOut();
    expect(await shownTo(parts, 'ann')).toEqual([]);
    // Who reshared it did not pass it on to everybody.
    await services.updateAction(session('actor'), id, { scope: 'PUBLIC' });
    await parts.fanOut();
    expect(await shownTo(parts, 'ann')).toEqual([]);
    await takeBack(parts, 'bob', id);
    await reshare(parts, 'bob', id);
    await parts.fanOut();
    expect(await shownTo(parts, 'ann')).toMatchObject([{ reasons: ['RESHARE'] }]);
    await services.updateAction(session('actor'), id, { scope: 'TEAM' });
    expect(await shownTo(parts, 'ann')).toEqual([]);
    expect(await services.getAction(session('ann'), id)).toBeNull();
    await parts.fanOut();
    expect(await shownTo(parts, 'ann')).toEqual([]);
    expect(await parts.feedStore.holders(id, { limit: 10 })).not.toContain('ann');
  },
);

test.each(someModels(2))(
  'a reshare does not deliver what its reader mutes, the resharer or the actor, feeds stored by %s',
  async (model) => {
    const { parts, id } = await openScene({ model });
    await using _parts = parts;
    const { services, session } = parts;
    await reshare(parts, 'bob', id);
    await parts.fanOut();
    for (const muted of ['bob', 'actor'].flatMap((id) => [{ memberId: id }, { refId: id }])) {
      await services.addMute(session('ann'), muted, null);
      expect(await shownTo(parts, 'ann')).toEqual([]);
      await services.removeMute(session('ann'), muted);
      expect(await shownTo(parts, 'ann')).toMatchObject([{ reasons: ['RESHARE'], resharedBy: ['bob'] }]);
    }
    // There for another reason, it stays, and does not name who is muted.
    await services.follow(session('ann'), 'site', 10);
    await services.addMute(session('ann'), { memberId: 'bob' });
    expect(await shownTo(parts, 'ann')).toMatchObject([{ reasons: ['FOLLOW'], resharedBy: [] }]);
  },
);

test.each(someModels(0))(
  'a watcher loses an action that only a muted member still reshares, feeds stored by %s',
  async (model) => {
    const { parts, id } = await openScene({ model });
    await using _parts = parts;
    const { services, session } = parts;
    await services.follow(session('ann'), 'cid', 0);
    for (const by of ['bob', 'cid']) await reshare(parts, by, id);
    await parts.fanOut();
    await services.addMute(session('ann'), { memberId: 'bob' });
    expect(await shownTo(parts, 'ann')).toMatchObject([{ resharedBy: ['cid'] }]);
    await using ann = await openLiveList(parts, session('ann').identity);
    expect([...ann.shown.keys()]).toEqual([id]);
    await takeBack(parts, 'cid', id);
    await parts.fanOut();
    await ann.caughtUp();
    expect([...ann.shown.keys()]).toEqual([]);
    expect(await shownTo(parts, 'ann')).toEqual([]);
  },
);

test.each(someModels(1))(
  'a reshare hidden by a moderator no longer delivers, and does when it is shown again, feeds stored by %s',
  async (model) => {
    const { parts, id } = await openScene({ model });
    await using _parts = parts;
    const { services, session } = parts;
    const { interaction } = await services.addInteraction(session('bob'), { actionId: id, kind: 'RESHARE' });
    await parts.fanOut();
    await services.hideInteraction(session('admin', 'admin'), interaction.id, null);
    expect(await shownTo(parts, 'ann')).toEqual([]);
    await parts.fanOut();
    expect(await shownTo(parts, 'ann')).toEqual([]);
    await services.unhideInteraction(session('admin', 'admin'), interaction.id);
    await parts.fanOut();
    expect(await shownTo(parts, 'ann')).toMatchObject([{ reasons: ['RESHARE'] }]);
  },
);

test.each(someModels(2))(
  'a follow that begins in the past delivers later reshares, and removes them with it, feeds stored by %s',
  async (model) => {
    const { parts, id } = await openScene({ model });
    await using _parts = parts;
    const { services, session } = parts;
    const own = await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
    await parts.fanOut();
    const at = await reshare(parts, 'bob', id);
    await parts.fanOut();
    await services.follow(session('cid'), 'bob', 0);
    expect(await shownTo(parts, 'cid')).toEqual([]);
    await using dan = await openLiveList(parts, session('dan').identity);
    await services.follow(session('dan'), 'bob', 1);
    expect(await shownTo(parts, 'dan')).toMatchObject([
      { reasons: ['RESHARE'], relevancy: at },
      { reasons: ['FOLLOW'] },
    ]);
    await dan.caughtUp();
    expect([...dan.shown.keys()].sort()).toEqual([id, own.action.id].sort());
    await services.unfollow(session('dan'), 'bob', false);
    expect(await shownTo(parts, 'dan')).toEqual([]);
    await dan.caughtUp();
    expect([...dan.shown.keys()]).toEqual([]);
  },
);

test('a reshare boosts an existing item for followers, and it stays boosted', async () => {
  const { parts, id } = await openScene({});
  await using _parts = parts;
  const { services, session } = parts;
  for (const reader of ['ann', 'cid']) await services.follow(session(reader), 'site', 10);
  const at = await reshare(parts, 'bob', id);
  await parts.fanOut();
  expect(await shownTo(parts, 'ann')).toMatchObject([{ reasons: ['FOLLOW', 'RESHARE'], relevancy: at }]);
  const [forCid] = await shownTo(parts, 'cid');
  expect(forCid?.relevancy.getTime()).toBeLessThan(at.getTime());
  expect(await services.explainFeedItem(session('ann'), id, null)).toMatchObject({
    addressedBy: [
      { reason: 'FOLLOW', via: 'site' },
      { reason: 'RESHARE', via: 'bob', until: null },
    ],
    causes: [{ kind: 'RESHARED_BY_FOLLOWED', at, liftedTo: at }, { kind: 'CONDUCTED' }],
  });
  expect(await services.explainFeedItem(session('cid'), id, null)).toMatchObject({
    causes: [{ kind: 'RESHARE', at }, { kind: 'CONDUCTED' }],
  });
  await takeBack(parts, 'bob', id);
  await parts.fanOut();
  expect(await shownTo(parts, 'ann')).toEqual([{ reasons: ['FOLLOW'], resharedBy: [], relevancy: at }]);
});

test('a follow that begins in the past boosts existing items by later reshares, for watchers too', async () => {
  const { parts, id } = await openScene({});
  await using _parts = parts;
  const { services, session } = parts;
  await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
  await services.follow(session('dan'), 'site', 10);
  const at = await reshare(parts, 'bob', id);
  await parts.fanOut();
  await using dan = await openLiveList(parts, session('dan').identity);
  expect(dan.shown.get(id)?.relevancy.getTime()).toBeLessThan(at.getTime());
  await services.follow(session('dan'), 'bob', 1);
  await dan.caughtUp();
  expect(dan.shown.get(id)).toMatchObject({ reasons: ['FOLLOW', 'RESHARE'], relevancy: at });
  expect((await shownTo(parts, 'dan'))[0]).toMatchObject({ reasons: ['FOLLOW', 'RESHARE'], relevancy: at });
});

test('interrupted follows deliver later reshares, to each follower by what they follow', async () => {
  const { parts, id } = await openScene({});
  await using _parts = parts;
  const { services, service, repositories } = parts;
  const since = new Date();
  const at = await reshare(parts, 'bob', id);
  await parts.fanOut();
  const pairs = [
    { followerId: 'cid', refId: 'bob', types: ['NewApplicant'] },
    { followerId: 'dan', refId: 'bob' },
  ];
  const tokens = { opened: newObjectId(), extended: newObjectId(), changed: newObjectId() };
  await repositories.follows.open(
    pairs.map((pair) => ({ ...pair, since })),
    tokens,
  );
  expect(await parts.feedStore.holders(id, { limit: 10 })).not.toContain('dan');
  await services.followMany(service, pairs);
  expect(await shownTo(parts, 'cid')).toEqual([]);
  expect(await shownTo(parts, 'dan')).toEqual([{ reasons: ['RESHARE'], resharedBy: ['bob'], relevancy: at }]);
});

test('later bumps reach readers who have it by a reshare, also below the floor', async () => {
  const { parts, id } = await openScene({ model: 'capped', cap: 2 });
  await using _parts = parts;
  const { services, session } = parts;
  await reshare(parts, 'bob', id);
  await parts.fanOut();
  for (let n = 0; n < 4; n++) await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
  await parts.fanOut();
  expect(await parts.feedStore.holders(id, { limit: 10 })).not.toContain('ann');
  await services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Ann', supervisorId: 'actor' }]);
  await services.addInteraction(session('actor'), { actionId: id, kind: 'COMMENT' });
  await parts.fanOut();
  expect((await parts.feedOf('ann'))[0]).toBe(id);
});

test('neither slices nor visibility depend on reshares', async () => {
  const { parts, id } = await openScene({});
  await using _parts = parts;
  const { services, session } = parts;
  await reshare(parts, 'bob', id);
  await services.updateAction(session('actor'), id, { scope: 'FOLLOWERS' });
  await parts.fanOut();
  expect((await services.readSlice(session('admin', 'admin'), 'bob', {})).edges).toEqual([]);
  expect(await services.getAction(session('ann'), id)).toBeNull();
  expect(await shownTo(parts, 'ann')).toEqual([]);
});

test('the newest hundred reshares deliver it, whichever is added or removed', async () => {
  const { parts, id } = await openScene({});
  await using _parts = parts;
  const { services, session } = parts;
  const others = Array.from({ length: MAX_RESHARES }, (_, n) => `r${String(n)}`);
  await services.follow(session('cid'), 'r0', 0);
  const at = await reshare(parts, 'bob', id);
  for (const other of others.slice(1)) await reshare(parts, other, id);
  await parts.fanOut();
  expect(await shownTo(parts, 'ann')).toMatchObject([{ resharedBy: ['bob'] }]);
  await reshare(parts, 'r0', id);
  // No worker has run.
  expect(await shownTo(parts, 'ann')).toEqual([]);
  await parts.fanOut();
  expect(await parts.feedStore.holders(id, { limit: 10 })).not.toContain('ann');
  expect(await shownTo(parts, 'cid')).toMatchObject([{ resharedBy: ['r0'] }]);
  await takeBack(parts, 'r50', id);
  await parts.fanOut();
  expect(await shownTo(parts, 'ann')).toMatchObject([{ resharedBy: ['bob'], relevancy: at }]);
});

test('the pass corrects the result of concurrent changes', async () => {
  const { parts, id } = await openScene({});
  await using _parts = parts;
  const { services, session } = parts;
  const { actions } = parts.database.collections;
  await reshare(parts, 'bob', id);
  await parts.fanOut();
  const action = { _id: new ObjectId(id) };
  const known = (await actions.findOne(action))?.reshares ?? [];
  // Somebody who took it back stands there, and who gave it does not.
  await actions.updateOne(action, revised({ $set: { reshares: [{ by: 'actor', at: new Date() }] } }));
  await services.addInteraction(session('cid'), { actionId: id, kind: 'LIKE' });
  await parts.fanOut();
  expect((await actions.findOne(action))?.reshares).toEqual(known);
  expect(await shownTo(parts, 'ann')).toMatchObject([{ resharedBy: ['bob'] }]);
});

test('a page with reshared actions costs nothing more, and one read of follows if its reader mutes a resharer', async () => {
  const { parts, id } = await openScene({ monitorCommands: true });
  await using _parts = parts;
  const { services, session } = parts;
  await reshare(parts, 'bob', id);
  await parts.fanOut();
  await parts.feedOf('ann');
  const page = async () => {
    const commands = await commandsOf(parts.database, () => services.readFeed(session('ann'), {}));
    return commands.map(({ collection }) => collection).sort();
  };
  const usual = ['feeds'];
  expect(await page()).toEqual(usual);
  await services.addMute(session('ann'), { memberId: 'cid' });
  expect(await page()).toEqual(usual);
  await services.addMute(session('ann'), { memberId: 'bob' });
  expect(await page()).toEqual(['feeds', 'follows']);
});

test('a follow that adds an action that a reshare delivered too gives it both reasons, live and in the feed', async () => {
  const { parts, id } = await openScene({});
  await using _parts = parts;
  const { services, session } = parts;
  const at = await reshare(parts, 'bob', id);
  await parts.fanOut();
  await using ann = await openLiveList(parts, session('ann').identity);
  expect(ann.shown.get(id)).toMatchObject({ reasons: ['RESHARE'] });
  await services.follow(session('ann'), SITE.id, 1);
  await ann.caughtUp();
  expect(ann.shown.get(id)).toMatchObject({ reasons: ['FOLLOW', 'RESHARE'] });
  expect(ann.resyncs).toEqual([]);
  const [item, ...more] = await shownTo(parts, 'ann');
  expect(item).toMatchObject({ resharedBy: ['bob'], relevancy: at });
  expect(item?.reasons.toSorted()).toEqual(['FOLLOW', 'RESHARE']);
  expect(more).toEqual([]);
});

test('reshares of a member whose own actions are pulled are pushed to all followers', async () => {
  const { parts, id } = await openScene({ pullRefreshMs: -1 });
  await using _parts = parts;
  await parts.database.collections.refs.updateOne(
    { _id: 'bob' },
    { $set: { isPulled: true, pullSince: new Date(0) } },
  );
  const { action: own } = await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
  await reshare(parts, 'bob', id);
  await parts.fanOut();
  const holders = (actionId: string) => parts.feedStore.holders(actionId, { limit: 10 });
  expect([await holders(own.id), await holders(id)]).toEqual([[], ['ann', 'bob']]);
  const { edges } = await parts.services.readFeed(parts.session('ann'), {});
  const shown = new Map(edges.map(({ node }) => [node.actionId, node.reasons]));
  expect(shown).toEqual(
    new Map([
      [own.id, ['PULL']],
      [id, ['RESHARE']],
    ]),
  );
  await takeBack(parts, 'bob', id);
  await parts.fanOut();
  expect(await holders(id)).toEqual(['bob']);
});
